"""From received files to accepted uploads: which project, which options, which format, which document id."""

from __future__ import annotations

import math
import shutil
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request
from pydantic import Field, ValidationError

from engine.errors import Code, CorpusError, InputError, Stage
from engine.ids import repeated_upload_id, upload_id_for
from engine.options import UploadOptions, effective_settings
from engine.records import Failure
from engine.registry import Project
from engine.registry.online import Upload
from engine.scratch import scratch_root
from serve.deps import Caller, Deps
from serve.idempotency import key_of
from serve.tracing import current_traceparent
from serve.upload import ReceivedFile

REFUSED = (Code.UNSUPPORTED_FORMAT, Code.FILE_TOO_LARGE, Code.INVALID_REQUEST)  # what a file is refused for at once
# Rough figures for the estimate of the answer: a start, a second a megabyte, and as much for every upload before.
START_SECONDS, SECONDS_PER_MB = 2.0, 1.0


class UploadFields(UploadOptions):
    """The form fields of an upload beside its files."""

    project_id: str = Field(max_length=100, description="UUID or slug of the project")
    source_id: str | None = Field(
        None, min_length=1, max_length=500, description="your own key: the same one again is a new revision"
    )

    def options(self) -> dict[str, object]:
        """What the worker needs to know."""
        return self.model_dump(exclude={"project_id", "source_id"}, exclude_none=True, exclude_defaults=True)


def fields_of(form: dict[str, list[str]]) -> UploadFields:
    """The form's text fields, checked. Raises InputError (INVALID_REQUEST) naming the fields at fault."""
    given: dict[str, object] = {}
    for name, values in form.items():
        if name == "acl":
            given[name] = [part.strip() for value in values for part in value.split(",") if part.strip()]
        elif len(values) > 1:
            raise _invalid([{"field": name, "problem": "given more than once"}])
        elif values[0] != "":  # an empty field of a web form is one that was not filled in
            given[name] = values[0]
    try:
        return UploadFields.model_validate(given)
    except ValidationError as error:
        raise _invalid([{"field": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors()]) from None


def _invalid(problems: list[dict[str, str]]) -> InputError:
    fields = ", ".join(sorted({problem["field"] for problem in problems}))
    return InputError(f"invalid form fields: {fields}", Code.INVALID_REQUEST, details={"errors": problems})


@dataclass(slots=True)
class Intake:
    """What came in with one request."""

    project: Project
    fields: UploadFields
    files: Sequence[ReceivedFile]


def uploads_of(deps: Deps, caller: Caller, request: Request, intake: Intake, forgiving: bool) -> list[Upload]:
    """The uploads to accept. Blocking.

    `forgiving`: a file that cannot be taken (unsupported, too large) becomes an upload that has failed already;
    otherwise it is raised.
    """
    options = intake.fields.options()
    effective_settings(deps.settings, intake.project.settings, options)  # refuses what would never work
    return [
        _upload(deps, intake, file, options, _identity(caller, request, intake, position), forgiving)
        for position, file in enumerate(intake.files)
    ]


def _identity(caller: Caller, request: Request, intake: Intake, position: int) -> str:
    project, source_id, key = intake.project.id, intake.fields.source_id, key_of(request)
    if source_id is not None:
        return upload_id_for(project, source_id)
    if key is not None:
        return repeated_upload_id(project, caller.subject, key, position, intake.files[position].sha256)
    return str(uuid.uuid4())


def _upload(
    deps: Deps, intake: Intake, file: ReceivedFile, options: dict[str, object], document_id: str, forgiving: bool
) -> Upload:
    made = Upload(
        document_id=document_id,
        project_id=intake.project.id,
        key=intake.fields.source_id or document_id,
        filename=file.filename,
        size=file.size,
        content_sha256=file.sha256,
        object_key=file.object_key,
        options=options,
        traceparent=current_traceparent(),
    )
    try:
        if file.failure is not None:
            raise file.failure
        made.source_format = detect(deps, file)
    except CorpusError as error:
        if not forgiving or error.code not in REFUSED:
            raise
        made.failure = Failure(error.code, error.stage or Stage.DETECT, error.message)
        made.object_key = ""
    return made


def detect(deps: Deps, file: ReceivedFile) -> str:
    """The format of a stored file, found in the isolated child. Raises InputError (UNSUPPORTED_FORMAT, ...)."""
    if file.size == 0:
        raise InputError("the file is empty", Code.INVALID_REQUEST, Stage.DETECT)
    with tempfile.TemporaryDirectory(prefix="corpus-detect-", dir=scratch_root(deps.settings)) as folder:
        path = Path(folder) / "input"
        with deps.objects.open(file.object_key) as source, path.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        return deps.inspector.detect(path, file.filename)


def estimated_seconds(deps: Deps, size: int) -> int:
    """A rough guess at when the upload will be processed, by its size and by what waits before it."""
    waiting, working = deps.registry.queue_depth()
    own = START_SECONDS + SECONDS_PER_MB * size / 2**20
    return math.ceil(own + START_SECONDS * (waiting + working) / deps.settings.serve.ingest_replicas[1])
