"""How one uploaded document is to be processed: the server's settings, then its project's, then the request's own.

`effective_settings` is pure; the upload route calls it to refuse bad options at once, the worker to do the work.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from engine.chunk.select import strategies
from engine.errors import Code, InputError
from engine.fingerprint import pipeline_fingerprint
from engine.points import EVERYONE
from engine.settings import Chunking, Limits, Settings

MOST_PRINCIPALS = 1000
MOST_CHARACTERS = 255  # of one principal
# Limits a project may set for itself; it can only lower the server's.
PROJECT_LIMITS = frozenset(Limits.model_fields) - {"recycle_documents", "recycle_rss_mb"}


def _lowered(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class UploadOptions(BaseModel):
    """What a caller may choose for one document; None: as the project or the server has it.

    `language`: ISO 639-1, taken as true for the whole document. `acl`: the principals that may see its chunks, empty:
    everybody with access to the project.
    """

    model_config = ConfigDict(extra="forbid")

    chunking_strategy: str | None = Field(None, min_length=1, max_length=100)
    max_tokens: int | None = Field(None, ge=16, le=100_000)
    overlap_tokens: int | None = Field(None, ge=0, le=100_000)
    ocr_enabled: bool | None = None
    ocr_threshold: float | None = Field(None, ge=0, le=1)
    language: Annotated[str | None, BeforeValidator(_lowered)] = Field(None, pattern="^[a-z]{2}$")
    acl: list[str] = Field(default_factory=list, max_length=MOST_PRINCIPALS)

    @field_validator("acl")
    @classmethod
    def _principals(cls, names: list[str]) -> list[str]:
        """Sorted, each once. One that stands for everybody, or that no caller can have, would open or lose the
        document without anyone noticing."""
        for name in names:
            if not name.strip() or len(name) > MOST_CHARACTERS or name == EVERYONE or _unprintable(name):
                raise ValueError(f"{name[:50]!r} cannot be a principal")
        return sorted(set(names))


def _unprintable(name: str) -> bool:
    return name != name.strip() or any(unicodedata.category(c) in ("Cc", "Cs") for c in name)


def upload_options(options: Mapping[str, object]) -> UploadOptions:
    """The options, checked by themselves. Raises InputError (INVALID_REQUEST) naming the fields at fault."""
    try:
        return UploadOptions.model_validate(dict(options))
    except ValidationError as error:
        raise _invalid(error) from error


def effective_settings(
    settings: Settings, project_settings: Mapping[str, object], options: Mapping[str, object]
) -> Settings:
    """The settings this document is processed with: `settings`, then the project's (`chunking`, `ocr_enabled`,
    `pii_redaction`, `limits`), then the request's `options` (see `UploadOptions`).

    Raises InputError (INVALID_REQUEST).
    """
    chosen = upload_options(options)
    ocr = {"enabled": _flag(project_settings, "ocr_enabled")}
    ocr = _given(
        {**_given(ocr), **_given({"enabled": chosen.ocr_enabled, "confidence_threshold": chosen.ocr_threshold})}
    )
    return settings.model_copy(
        update={
            "chunking": _chunking(settings, _group(project_settings, "chunking"), chosen),
            "limits": _limits(settings.limits, _group(project_settings, "limits")),
            "ocr": settings.ocr.model_copy(update=ocr),
            "security": settings.security.model_copy(
                update=_given({"pii_redaction": _flag(project_settings, "pii_redaction")})
            ),
        }
    )


def upload_fingerprint(settings: Settings, embedder_fingerprint: str, options: UploadOptions, filename: str) -> str:
    """Like `engine.fingerprint.pipeline_fingerprint` of the effective settings, over what else of an upload decides
    its points: who may see them, and its file's name, which can change while the document stays the same."""
    base = pipeline_fingerprint(settings, embedder_fingerprint, options.language)
    return hashlib.sha256(json.dumps([base, options.acl, filename]).encode()).hexdigest()


def _chunking(settings: Settings, project: Mapping[str, object], chosen: UploadOptions) -> Chunking:
    own = {
        "strategy": chosen.chunking_strategy,
        "max_tokens": chosen.max_tokens,
        "overlap_tokens": chosen.overlap_tokens,
    }
    try:
        made = Chunking.model_validate({**settings.chunking.model_dump(), **_given(project), **_given(own)})
    except ValidationError as error:
        raise _invalid(error) from error
    if made.strategy not in (known := strategies(settings)):
        raise InputError(
            f"there is no chunking strategy {made.strategy[:50]!r}; there are {', '.join(known)}",
            Code.INVALID_REQUEST,
            details={"fields": ["chunking_strategy"]},
        )
    return made


def _limits(limits: Limits, project: Mapping[str, object]) -> Limits:
    """The lower of both: a project's admin is not the server's. Rates a minute stand in the same group; not ours."""
    try:
        own = Limits.model_validate({k: v for k, v in project.items() if k in PROJECT_LIMITS and v is not None})
    except ValidationError as error:
        raise _invalid(error) from error
    lower = {name: min(getattr(limits, name), getattr(own, name)) for name in own.model_fields_set}
    return limits.model_copy(update=lower)


def _group(project_settings: Mapping[str, object], name: str) -> Mapping[str, object]:
    group = project_settings.get(name)
    if group is None:
        return {}
    if not isinstance(group, Mapping):
        raise InputError(f"the project's setting {name} must be an object", Code.INVALID_REQUEST)
    return cast("Mapping[str, object]", group)


def _flag(project_settings: Mapping[str, object], name: str) -> bool | None:
    flag = project_settings.get(name)
    if flag is not None and not isinstance(flag, bool):
        raise InputError(f"the project's setting {name} must be true or false", Code.INVALID_REQUEST)
    return flag


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _invalid(error: ValidationError) -> InputError:
    """Every field at fault, without repeating what was given."""
    found = [(".".join(map(str, e["loc"])), e["msg"]) for e in error.errors(include_input=False, include_url=False)]
    message = "; ".join(f"{field}: {said}" for field, said in found)
    return InputError(message, Code.INVALID_REQUEST, details={"fields": [field for field, _ in found]})
