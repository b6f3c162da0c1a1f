"""Who calls, and what they may do: bearer tokens from a file, from the registry, or signed by an identity provider.

A caller's principals (what the access lists of chunks are compared with) are the subject and then the groups or
principals its token carries; None (no comparison at all) only for a caller with the role admin in "*" and for the
one caller there is when no authentication is configured. The subject of a file or registry token is its name, that
of a JWT its `sub`: whoever makes tokens must not give one the name of somebody else's subject.
"""

from __future__ import annotations

from serve.auth.bearer import digest, new_token
from serve.auth.callers import ALL, RANKS, make_caller, project_of, require, resolve_roles, role_in, seen_projects
from serve.auth.open import check_binding, check_local
from serve.auth.tokens import make_authenticator

__all__ = [
    "ALL",
    "RANKS",
    "check_binding",
    "check_local",
    "digest",
    "make_authenticator",
    "make_caller",
    "new_token",
    "project_of",
    "require",
    "resolve_roles",
    "role_in",
    "seen_projects",
]
