"""The tokens file: callers that an operator lists by the hashes of their tokens.

- name: importer
  sha256: 64 hexadecimal digits, as `corpus token hash` prints them
  roles: {handbook: write, "*": read}
  principals: [staff]
  expires_at: 2027-06-30T00:00:00Z
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from engine.errors import ConfigError
from serve.auth.callers import make_caller
from serve.auth.watched import SECRET, WatchedFile
from serve.deps import Caller, Role


class Entry(BaseModel):
    """One caller as written in the file. `expires_at` without a zone is UTC."""

    model_config = ConfigDict(extra="forbid")

    name: str
    sha256: Annotated[str, StringConstraints(to_lower=True, pattern=r"^[0-9a-fA-F]{64}$")]
    roles: dict[str, Role]
    principals: list[str] = Field(default_factory=list)
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    caller: Caller
    expires_at: datetime | None


_entries = TypeAdapter(list[Entry])


class TokensFile:
    """Callers by token hash, as the file says now."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError: unreadable, readable or writable by strangers, or broken."""
        self._file = WatchedFile(path, parse_tokens, SECRET)

    def find(self, sha256: str) -> Caller | None:
        """The caller with this token hash; None for an unknown or expired one."""
        listed = self._file.content().get(sha256)
        if listed is None or (listed.expires_at is not None and listed.expires_at <= datetime.now(UTC)):
            return None
        return listed.caller


def parse_tokens(data: bytes) -> dict[str, Listed]:
    """Token hash → caller. Raises ConfigError naming every broken entry; messages repeat no values, since a token
    itself may have been written where its hash belongs."""
    found: dict[str, Listed] = {}
    names: set[str] = set()
    for number, entry in enumerate(_read(data), 1):
        if entry.name in names or entry.sha256 in found:
            raise ConfigError(f"entry {number} of the tokens file has the name or the hash of an earlier one")
        names.add(entry.name)
        found[entry.sha256] = _listed(number, entry)
    return found


def _read(data: bytes) -> list[Entry]:
    try:
        loaded: object = yaml.safe_load(data)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"the tokens file is not YAML{place}") from None
    if not isinstance(loaded, list):
        raise ConfigError("the tokens file must be a list of entries; [] when there are none")
    try:
        return _entries.validate_python(loaded)
    except ValidationError as error:
        lines = [f"entry {int(e['loc'][0]) + 1}{_field(e['loc'][1:])}: {e['msg']}" for e in error.errors()]
        raise ConfigError("broken tokens file: " + "; ".join(lines)) from None


def _field(place: tuple[int | str, ...]) -> str:
    """The field's name, unless it is one we do not know: that may be anything."""
    name = str(place[0]) if place else ""
    return f" ({name})" if name in Entry.model_fields else ""


def _listed(number: int, entry: Entry) -> Listed:
    expires_at = entry.expires_at
    if expires_at is not None and expires_at.tzinfo is None:
        expires_at = expires_at.replace(tzinfo=UTC)
    roles: Mapping[str, str] = entry.roles
    try:
        return Listed(make_caller(entry.name, roles, entry.principals), expires_at)
    except ValueError as error:
        raise ConfigError(f"entry {number} of the tokens file: {error}") from None
