"""What a submitted backfill consists of: the job's name, its command line and its environment. No Ray here.

Settings travel as environment variables of the job, which anyone who may look at the cluster's dashboard can read,
like its command line. So secrets never travel, nor do the addresses of services: a cluster has both in its own
environment or settings file. What decides how documents are read, cut and embedded does travel, and so does every
flag.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, SecretStr

from engine.errors import ConfigError
from engine.settings import PREFIX, Settings
from engine.sources import public_uri

OPTIONS = (
    "source_name", "manifest", "language", "max_documents", "max_cost", "max_failed", "delete_missing", "delete_share",
    "workers",
)  # fmt: skip
STOP_SECONDS = 60  # what a stopped job gets to close its run before it is killed
JOB_ENVIRONMENT = {
    # Ray would rebuild the environment through uv on every worker when it finds itself under `uv run`
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # after SIGTERM, on which a run closes as interrupted
    "RAY_JOB_STOP_WAIT_TIME_S": str(STOP_SECONDS),
    "CORPUS_PIPELINE__RAY_ADDRESS": "auto",
}
CONTENT = {"limits", "ocr", "chunking", "embedding", "security", "pipeline", "extractors", "chunkers", "formats"}
# about one machine or one cluster, so each has its own
PLACES = {"pipeline.ray_address", "embedding.device", "embedding.threads"}
SERVICES = {"registry", "store", "objects", "gateway", "password"}
WITH_PASSWORD = {"registry.url"}


@dataclass(frozen=True, slots=True)
class Submission:
    """`name`: the same for the same backfill; `entrypoint`: a shell command; `environment`: variables of the job."""

    name: str
    entrypoint: str
    environment: dict[str, str]


def plan_submission(
    source: str,
    project: str,
    settings: Settings,
    flags: Mapping[str, object],
    options: Mapping[str, Any],
    key: str = "",
    command: str = "corpus",
) -> Submission:
    """The job for one backfill. `options` are those of `corpus backfill`, see `OPTIONS`; `flags` as in `travelling`;
    `command`: shell words that call Corpus on the cluster. Raises ConfigError for unknown options and for secrets.
    """
    environment = {**travelling(settings, flags), **JOB_ENVIRONMENT}
    entrypoint = f"{command} {shlex.join(_arguments(source, project, options))}"
    return Submission(_job_name(project, [entrypoint, environment, key]), entrypoint, environment)


# ---------------------------------------------------------------- the command line
def _arguments(source: str, project: str, options: Mapping[str, Any]) -> list[str]:
    """The words of `corpus backfill` behind the program's name."""
    if "password" in options:
        raise ConfigError("passwords do not travel: set CORPUS_PASSWORD in the environment of the cluster's nodes")
    if unknown := set(options) - set(OPTIONS):
        raise ConfigError(f"a submitted backfill has no option {', '.join(sorted(unknown))}")
    words = ["backfill", "--project", project, "--json"]
    for name in OPTIONS:
        value = options.get(name)
        if value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return [*words, "--", _place(source)]


def _place(source: str) -> str:
    """The source as the cluster must see it. A path is made absolute: the job has a working folder of its own."""
    if "://" not in source:
        return os.path.abspath(Path(source).expanduser())  # noqa: PTH100 - Path.absolute would keep `..`
    if public_uri(source) != source:
        raise ConfigError(
            "the source's address holds a user, a password or a query, which the cluster's dashboard would show: list "
            "it in a manifest on the cluster, or give the credentials in the cluster's own environment"
        )
    return source


def _job_name(project: str, identity: object) -> str:
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
    readable = re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-")[:40]
    return "-".join(filter(None, ("backfill", readable, digest)))


# ---------------------------------------------------------------- the environment
def travelling(settings: Settings, flags: Mapping[str, object]) -> dict[str, str]:
    """Environment variables for the job: the flags, and whatever file and environment say about content.

    `flags` maps dotted names to values, as in `engine.settings.load`. Raises ConfigError for a secret among them.
    """
    chosen = {name: value for name, value in _given(settings) if _is_content(name)}
    for flag, value in flags.items():
        if value is None:
            continue
        name, value = _of_flag(settings, flag)
        if _is_secret(name, value):
            raise ConfigError(
                f"{name} is a secret, and everyone who sees the cluster's dashboard would see it: set it in the "
                "environment or the settings file of the cluster's nodes"
            )
        chosen[name] = value
    return {_variable(name): _text(value) for name, value in sorted(chosen.items()) if value is not None}


def left_to_the_cluster(settings: Settings) -> list[str]:
    """Names of the services' settings that were given here and do not travel."""
    return sorted(name for name, _ in _given(settings) if name.partition(".")[0] in SERVICES)


def _given(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted name and value of each setting that somebody gave, be it the default."""
    for name in sorted(model.model_fields_set):
        value: object = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _given(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _of_flag(settings: Settings, flag: str) -> tuple[str, object]:
    """The setting that a flag names, with its checked value; a flag inside a mapping stands for the whole mapping."""
    value: object = settings
    names: list[str] = []
    for part in flag.split("."):
        if not isinstance(value, BaseModel):
            break
        names.append(part)
        value = getattr(value, part)
    return ".".join(names), value


def _is_content(name: str) -> bool:
    return name.partition(".")[0] in CONTENT and name not in PLACES


def _is_secret(name: str, value: object) -> bool:
    return name in WITH_PASSWORD or name == "password" or isinstance(value, SecretStr)


def _variable(name: str) -> str:
    return PREFIX + name.upper().replace(".", "__")


def _text(value: object) -> str:
    """As `engine.settings` reads it from the environment: lists and mappings as JSON, which is YAML too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(cast("object", value), ensure_ascii=False)
    return value.as_posix() if isinstance(value, Path) else str(value)
