"""Opaque bearer tokens: how they look, how they are made, under which hash they are kept."""

from __future__ import annotations

import hashlib
import re
import secrets

PREFIX = "corpus_"  # so that secret scanners and people know one when they see it
LEAST_CHARACTERS = 32  # of a token that somebody else made: it is stored unsalted and must not be guessable
LONGEST = 16_384  # characters of any bearer token; a JWT with many groups has a few thousand

is_ours = re.compile(r"corpus_[A-Za-z0-9_-]{43}").fullmatch


def new_token() -> str:
    """`corpus_` and 32 random bytes in base64url (RFC 4648, section 5, without padding)."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """The SHA-256 under which a token is stored and looked up, 64 lower-case hexadecimal digits.

    Looking up by the hash leaks nothing through time: who guesses tokens does not choose their hashes.
    """
    return hashlib.sha256(token.encode()).hexdigest()
