"""How the files of a batch upload stand."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter

from engine.errors import Code, InputError
from engine.registry import DocumentRow
from serve.auth import role_in
from serve.context import CallerDep, DepsDep
from serve.routes import errors
from serve.schemas.documents import BatchFile, BatchState, Failed

router = APIRouter(prefix="/batches", tags=["documents"])


@router.get("/{batch_id}", responses=errors())
def get_batch(deps: DepsDep, caller: CallerDep, batch_id: str) -> BatchState:
    """The state of every file of a batch, in the order of the upload."""
    batch = deps.registry.batch(batch_id)
    if batch is None or role_in(caller, batch.project_id) is None:
        raise InputError("there is no such batch", Code.JOB_NOT_FOUND)
    files = [_file(document_id, deps.registry.document(document_id)) for document_id in batch.document_ids]
    counts = Counter(file.status for file in files)
    return BatchState(
        batch_id=batch.batch_id,
        project_id=batch.project_id,
        status="processing" if counts["pending"] + counts["processing"] else "completed",
        counts=dict(counts),
        documents=files,
        created_at=batch.created_at,
    )


def _file(document_id: str, row: DocumentRow | None) -> BatchFile:
    if row is None:
        return BatchFile(document_id=document_id, filename="", status="deleted", error=None)
    status = "completed" if row.status == "skipped" else row.status
    error = Failed(code=row.error_code, stage=row.error_stage, message=row.error_message)
    return BatchFile(
        document_id=document_id,
        filename=row.filename,
        status=status,  # pyright: ignore[reportArgumentType]
        error=error if status == "failed" else None,
    )
