"""Uploads: one file, or many at once."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from fastapi import APIRouter, Request, Response

from engine.errors import Code, CorpusError, InputError
from engine.registry.online import Upload
from serve.context import (
    LOOKING,
    CallerDep,
    DepsDep,
    check_somewhere,
    in_thread,
    in_thread_of,
    rate_limit,
    visible_project,
)
from serve.deps import Caller, Deps, Operation
from serve.idempotency import created, fingerprint, once
from serve.intake import Intake, UploadFields, estimated_seconds, fields_of, uploads_of
from serve.multipart import remove
from serve.routes import errors
from serve.schemas.documents import Accepted, BatchAccepted
from serve.upload import Received, receive_upload

router = APIRouter(prefix="/documents", tags=["documents"])
log = logging.getLogger(__name__)


BATCH_SECONDS = 900  # to find the format of each of its files, one after the other


def _form(files: dict[str, Any], required: str) -> dict[str, Any]:
    """The request body in OpenAPI's words: it is parsed as it streams, which FastAPI's own forms cannot."""
    schema = UploadFields.model_json_schema()
    schema["properties"] = {**files, **schema["properties"]}
    schema["required"] = [required, "project_id"]
    schema.pop("title", None)
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


_FILE = {"type": "string", "format": "binary"}


@router.post(
    "/parse",
    status_code=202,
    response_model=Accepted,
    responses=errors(400, 409, 415, 429),
    openapi_extra=_form({"file": _FILE}, "file"),
)
async def parse(deps: DepsDep, caller: CallerDep, request: Request) -> Response:
    """Upload one document. Once this answers 202 it will be processed, whatever happens to the server."""
    check_somewhere(caller, "write")
    received = await receive_upload(request, deps.objects, deps.settings, batch=False)
    try:
        return await _parse(deps, caller, request, received)
    finally:  # what was handed over stays; a refused file goes, and so does one that an earlier answer made needless
        await received.discard()


async def _parse(deps: Deps, caller: Caller, request: Request, received: Received) -> Response:
    intake = await _intake(deps, caller, received, "parse")
    file = intake.files[0]

    async def work() -> Response:
        (upload,) = await in_thread_of(LOOKING, uploads_of, deps, caller, request, intake, False)
        seconds = await in_thread(estimated_seconds, deps, upload.size)
        await in_thread(_accept, deps, received, [upload])  # nothing that may fail comes after it
        await deps.wake()
        answer = Accepted(document_id=upload.document_id, estimated_duration_seconds=seconds)
        return created(answer, 202, {"Location": f"/api/v1/documents/{upload.document_id}"})

    same = fingerprint("parse", intake.fields.model_dump(), file.filename, file.sha256)
    return await once(deps, caller, intake.project.id, request, same, work)


def _accept(deps: Deps, received: Received, uploads: list[Upload], batch_id: str | None = None) -> None:
    with received.hand_over():
        deps.registry.accept(uploads, batch_id)
    for upload in uploads:
        deps.metrics.uploaded(upload.size)


@router.post(
    "/batch",
    status_code=202,
    response_model=BatchAccepted,
    responses=errors(400, 409, 415, 429),
    openapi_extra=_form({"files": {"type": "array", "items": _FILE}}, "files"),
)
async def batch(deps: DepsDep, caller: CallerDep, request: Request) -> Response:
    """Upload up to MAX_BATCH_SIZE documents. A file that cannot be taken (unsupported, too large) is listed among
    them as failed; the others are processed."""
    check_somewhere(caller, "write")
    received = await receive_upload(request, deps.objects, deps.settings, batch=True)
    try:
        return await _batch(deps, caller, request, received)
    finally:
        await received.discard()


async def _batch(deps: Deps, caller: Caller, request: Request, received: Received) -> Response:
    intake = await _intake(deps, caller, received, "batch")
    if intake.fields.source_id is not None and len(intake.files) > 1:
        raise InputError("source_id names one document, not the files of a batch", Code.INVALID_REQUEST)

    async def work() -> Response:
        uploads = await in_thread_of(LOOKING, uploads_of, deps, caller, request, intake, True)
        batch_id = str(uuid.uuid4())
        await in_thread(_accept, deps, received, uploads, batch_id)
        await _drop_refused(deps, intake, uploads)
        await deps.wake()
        answer = BatchAccepted(batch_id=batch_id, document_ids=[upload.document_id for upload in uploads])
        return created(answer, 202, {"Location": f"/api/v1/batches/{batch_id}"})

    names = [[file.filename, file.sha256] for file in intake.files]
    same = fingerprint("batch", intake.fields.model_dump(), names)
    return await once(deps, caller, intake.project.id, request, same, work, BATCH_SECONDS)


async def _intake(deps: Deps, caller: Caller, received: Received, operation: Operation) -> Intake:
    fields = fields_of(received.fields)
    project = await in_thread(visible_project, deps, caller, fields.project_id, "write")
    await rate_limit(deps, project, operation)
    return Intake(project, fields, received.files)


async def _drop_refused(deps: Deps, intake: Intake, uploads: list[Upload]) -> None:
    """Remove the bytes of refused files. The batch is taken already, so what a store in trouble keeps is left to the
    sweep."""
    pairs = zip(intake.files, uploads, strict=True)
    keys = [file.object_key for file, upload in pairs if upload.failure is not None and file.object_key]
    try:
        await in_thread(remove, deps.objects, keys)
    except CorpusError as error:
        log.warning("refused files wait for the sweep", extra={"code": error.code, "count": len(keys)})
