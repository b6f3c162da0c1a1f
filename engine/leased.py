"""The registry as one attempt at an upload sees it: the lease's generation stands for the document's claim, and
nothing is written any more once the attempt is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.records import Failure
from engine.registry import Claim, DocumentRow, Publication, Skip, Touch
from engine.registry.online import Lease
from engine.worker import WorkerLedger


class Over(Exception):
    """The attempt is over: the document was deleted, uploaded anew or given to another worker, or this one was told
    to stop. Nothing of it becomes visible."""


class Again(Exception):
    """The attempt failed for a reason that time may mend; nothing of the failure is recorded."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


@dataclass
class LeasedLedger:
    """Implements `engine.worker.WorkerLedger`. `mends`: whether a failure may be gone at the next attempt.
    `retired`: documents that were inside an earlier revision and are deleted now."""

    registry: WorkerLedger
    lease: Lease
    over: threading.Event
    mends: Callable[[Failure], bool]
    retired: list[str] = field(default_factory=lambda: list[str]())

    def check(self) -> None:
        """Raises Over once the attempt is over."""
        if self.over.is_set():
            raise Over

    def claim(self, claims: Sequence[Claim], run_id: str | None = None) -> dict[str, int]:
        """The upload itself is claimed by its lease; what is found inside it, as ever. No run: what keeps these
        attempts alive is the lease."""
        self.check()
        inside = [claim for claim in claims if claim.document_id != self.lease.document_id]
        taken = self.registry.claim(inside) if inside else {}
        return taken if len(inside) == len(claims) else {**taken, self.lease.document_id: self.lease.generation}

    def touch(self, touches: Sequence[Touch]) -> set[str]:
        self.check()
        return self.registry.touch(touches)

    def publish(self, publications: Sequence[Publication]) -> set[str]:
        self.check()
        return self.registry.publish(publications)

    def fail(self, failures: Sequence[tuple[str, int, Failure]]) -> set[str]:
        """Raises Again instead of recording a failure that may mend: before anything of its group becomes visible."""
        self.check()
        for _, _, failure in failures:
            if self.mends(failure):
                raise Again(failure)
        return self.registry.fail(failures)

    def skip(self, skips: Sequence[Skip]) -> set[str]:
        self.check()
        return self.registry.skip(skips)

    def retire_children(self, parent_id: str, keep: set[str], generation: int | None = None) -> list[str]:
        gone = self.registry.retire_children(parent_id, keep, generation)
        self.retired += gone
        return gone

    def swept(self, attempts: Sequence[tuple[str, int]]) -> None:
        self.registry.swept(attempts)

    def children(self, document_id: str) -> list[DocumentRow]:
        return self.registry.children(document_id)

    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None:
        return self.registry.document(document_id, project_id)
