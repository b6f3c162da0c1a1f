"""Bearer tokens as the ledger keeps them: by their SHA-256, never themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

import sqlalchemy as sa

from engine.errors import Code, InputError
from engine.registry.database import Database, insert, now
from engine.registry.online import Token
from engine.registry.online_models import TOKENS
from engine.registry.text import canonical, clean

T = TOKENS.c
SHOWN = (T.id, T.name, T.roles, T.principals, T.created_at, T.expires_at)
ROLES = {"read", "write", "admin"}
SHA256 = re.compile("[0-9a-f]{64}").fullmatch


class Tokens(Database):
    """Statements about tokens."""

    def add_token(
        self,
        name: str,
        roles: Mapping[str, str],
        principals: Sequence[str],
        sha256: str,
        expires_at: datetime | None = None,
    ) -> Token:
        """Keep a token. `sha256`: 64 lower-case hexadecimal digits. Raises InputError: INVALID_REQUEST for an unknown
        role or a hash that is none, CONFLICT when the token is there already."""
        if wrong := set(roles.values()) - ROLES:
            raise InputError(f"there is no role {min(wrong)!r}; there are read, write, admin", Code.INVALID_REQUEST)
        if not SHA256(sha256):
            raise InputError("a token is kept by its SHA-256 in hexadecimal", Code.INVALID_REQUEST)
        token = Token(str(uuid4()), clean(name), dict(roles), [clean(p) for p in principals], now(), expires_at)
        row = {"id": token.token_id, "name": token.name, "roles": token.roles, "principals": token.principals}
        row |= {"sha256": sha256, "created_at": token.created_at, "expires_at": expires_at}
        new = [row]
        made = self.write(lambda c: c.execute(insert(c, TOKENS).on_conflict_do_nothing().returning(T.id), new).first())
        if made is None:
            raise InputError("this token is known already", Code.CONFLICT)
        return token

    def token(self, sha256: str) -> Token | None:
        """The token of this hash; None when there is none, it has expired, or it was revoked."""
        wanted = sa.select(*SHOWN).where(T.sha256 == clean(sha256), T.revoked_at.is_(None))
        row = self.read(lambda c: c.execute(wanted).first())
        if row is None or (row.expires_at is not None and row.expires_at <= now()):
            return None
        return Token(*row)

    def tokens(self) -> list[Token]:
        """All tokens that were not revoked, oldest first, the expired ones among them."""
        wanted = sa.select(*SHOWN).where(T.revoked_at.is_(None)).order_by(T.created_at, T.id)
        return [Token(*row) for row in self.read(lambda c: c.execute(wanted).all())]

    def revoke_token(self, token_id: str) -> bool:
        """Refuse a token from now on; False when there is none of this id that was not revoked."""
        change = sa.update(TOKENS).where(T.id == canonical(token_id), T.revoked_at.is_(None))
        return self.write(lambda c: c.execute(change.values(revoked_at=now())).rowcount) == 1
