"""What every route begins with: who asks, about which project or document, and whether they may."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from fastapi import Depends, Request

from engine.errors import Code, InputError
from engine.registry import DocumentRow, Project
from serve import logs
from serve.auth import ALL, RANKS, check_local, require
from serve.deps import Caller, Deps, Operation, Role

P = ParamSpec("P")
T = TypeVar("T")
# Threads for what may take many seconds: calls of the inspector wait for one another, an agentic search has a time
# limit of its own. They must not take those that every other request needs, nor those who draw pages the uploads'.
LOOKING = anyio.CapacityLimiter(16)
DRAWING = anyio.CapacityLimiter(16)
AGENTS = anyio.CapacityLimiter(16)
RESOLVING = anyio.CapacityLimiter(4)  # names of webhooks' hosts: whose owner may let their servers answer late


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work (registry, store, objects) beside the event loop."""
    return await anyio.to_thread.run_sync(lambda: work(*args, **kwargs))


async def in_thread_of(threads: anyio.CapacityLimiter, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `in_thread`, in one of `threads`."""
    return await anyio.to_thread.run_sync(lambda: work(*args, **kwargs), limiter=threads)


def deps_of(request: Request) -> Deps:
    return request.app.state.deps


async def caller_of(request: Request) -> Caller:
    """The caller behind the bearer token. Raises InputError (UNAUTHENTICATED)."""
    deps = deps_of(request)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else None
    if not deps.authenticator.required:
        check_local(request.headers.get("host", ""), request.headers.get("origin"))
    caller = await in_thread(deps.authenticator.authenticate, given or None)
    request.state.subject = caller.subject
    return caller


DepsDep = Annotated[Deps, Depends(deps_of)]
CallerDep = Annotated[Caller, Depends(caller_of)]


# ---------------------------------------------------------------- may they
def check_global(caller: Caller, role: Role) -> None:
    """Raise FORBIDDEN unless the caller has `role` in every project."""
    has = caller.roles.get(ALL)
    if has is None or RANKS[has] < RANKS[role]:
        raise InputError(f"this needs the role {role} in all projects", Code.FORBIDDEN)


def check_somewhere(caller: Caller, role: Role) -> None:
    """Raise FORBIDDEN unless the caller has at least `role` in any project: before a body is read that would be in
    vain."""
    if not any(RANKS[has] >= RANKS[role] for has in caller.roles.values()):
        raise InputError(f"this needs the role {role} in a project", Code.FORBIDDEN)


def visible_project(deps: Deps, caller: Caller, ref: str, role: Role) -> Project:
    """The project by id or slug. One that is not there and one that the caller has no role in answer alike:
    PROJECT_NOT_FOUND."""
    try:
        project = deps.registry.project(ref)
    except InputError:
        project = None
    absent = InputError("there is no such project", Code.PROJECT_NOT_FOUND)
    if project is None:
        raise absent
    require(caller, project.id, role, absent)
    logs.bind(project_id=project.id)
    return project


def visible_document(deps: Deps, caller: Caller, document_id: str, role: Role) -> DocumentRow:
    """The document's row; DOCUMENT_NOT_FOUND for an unknown one and for one of a project the caller has no role in."""
    row = deps.registry.document(document_id)
    absent = InputError("there is no such document", Code.DOCUMENT_NOT_FOUND)
    if row is None:
        raise absent
    require(caller, row.project_id, role, absent)
    logs.bind(project_id=row.project_id)
    return row


async def rate_limit(deps: Deps, project: Project, operation: Operation) -> None:
    """Count a request against the project's limit of this minute. Raises RATE_LIMIT_EXCEEDED with `retry_after`."""
    name = f"{operation}_per_minute"
    own = project.settings.get("limits")
    limit = own.get(name) if isinstance(own, dict) else None  # pyright: ignore[reportUnknownMemberType]
    bound = limit if isinstance(limit, int) else getattr(deps.settings.serve, name)
    wait = await deps.limiter.hit(project.id, operation, bound)
    if wait > 0:
        deps.metrics.rate_limited(operation)
        raise InputError(
            f"more than {bound} {operation} requests in a minute for this project",
            Code.RATE_LIMIT_EXCEEDED,
            details={"limit": bound, "retry_after": math.ceil(wait)},
        )
