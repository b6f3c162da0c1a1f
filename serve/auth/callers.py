"""Callers and their roles: from what a token says to the `Caller` the routes ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from uuid import uuid5

from engine.errors import Code, CorpusError, InputError
from engine.registry.projects import NAMESPACE, SLUG
from engine.registry.text import canonical
from serve.deps import Caller, Role

ALL = "*"  # stands for every project
RANKS: Mapping[str, int] = {"read": 0, "write": 1, "admin": 2}
MOST_PRINCIPALS = 1000
LONGEST_NAME = 256  # characters of a subject or principal


def project_of(ref: str) -> str:
    """The id of the project with this slug or UUID, `*` for itself. A project's id follows from its slug, so that
    nothing is looked up. Raises ValueError for what can be neither."""
    if ref == ALL:
        return ref
    found = canonical(ref) or (str(uuid5(NAMESPACE, ref)) if SLUG(ref) else None)
    if found is None:
        raise ValueError("a role is given for a project's slug, its id, or *")
    return found


def resolve_roles(given: Mapping[str, str]) -> dict[str, Role]:
    """Project id or `*` → role; the stronger one where slug and id name the same project. Raises ValueError
    (without the offending value, which may be a misplaced secret)."""
    roles: dict[str, Role] = {}
    for ref, role in given.items():
        if role not in RANKS:
            raise ValueError("a role is read, write or admin")
        project_id = project_of(ref)
        roles[project_id] = _stronger(roles.get(project_id), cast("Role", role))
    return roles


def make_caller(subject: str, roles: Mapping[str, str], principals: Sequence[str]) -> Caller:
    """The caller with these roles (by slug or id). Raises ValueError for an impossible subject, role or principal."""
    for name in (subject, *principals):
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ValueError(f"a subject or principal is 1 to {LONGEST_NAME} printable characters")
    if len(principals) > MOST_PRINCIPALS:
        raise ValueError(f"more than {MOST_PRINCIPALS} principals")
    resolved = resolve_roles(roles)
    all_powerful = resolved.get(ALL) == "admin"
    return Caller(subject, resolved, None if all_powerful else list(dict.fromkeys([subject, *principals])))


def role_in(caller: Caller, project_id: str) -> Role | None:
    """The caller's role in a project: its own or that for every project, whichever is stronger. None: to this
    caller the project does not exist."""
    own, everywhere = caller.roles.get(project_id), caller.roles.get(ALL)
    return everywhere if own is None else _stronger(everywhere, own)


def require(caller: Caller, project_id: str, role: Role, absent: CorpusError | None = None) -> None:
    """Raise unless the caller has at least `role` in the project: FORBIDDEN when it has a lower one, and with none
    at all `absent`, the error the route gives for what is not there (PROJECT_NOT_FOUND by default)."""
    has = role_in(caller, project_id)
    if has is None:
        raise absent or InputError("there is no such project", Code.PROJECT_NOT_FOUND)
    if RANKS[has] < RANKS[role]:
        raise InputError(f"this needs the role {role} in the project", Code.FORBIDDEN)


def seen_projects(caller: Caller, project_ids: Iterable[str]) -> list[str]:
    """Those of the projects that the caller has any role in, in the same order."""
    return [project_id for project_id in project_ids if role_in(caller, project_id) is not None]


def _stronger(one: Role | None, other: Role) -> Role:
    return other if one is None or RANKS[other] > RANKS[one] else one
