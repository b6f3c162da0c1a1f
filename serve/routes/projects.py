"""Projects, their webhooks, audit and statistics."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from engine.errors import Code, InputError
from engine.options import effective_settings
from engine.registry import Project as ProjectRow
from engine.registry.online import Webhook as WebhookRow
from serve.auth import ALL, role_in, seen_projects
from serve.context import RESOLVING, CallerDep, DepsDep, check_global, in_thread, in_thread_of, visible_project
from serve.deps import Caller, Deps
from serve.idempotency import created, fingerprint, once
from serve.routes import errors
from serve.schemas.projects import (
    AuditEntry,
    AuditPage,
    CreatedWebhook,
    Delivery,
    DeliveryPage,
    NewProject,
    NewWebhook,
    Project,
    ProjectChange,
    ProjectList,
    ProjectSettings,
    ProjectStats,
    Stats,
    Webhook,
    WebhookList,
)
from serve.webhooks.guard import check_url

router = APIRouter(tags=["projects"])
MOST_WEBHOOKS = 100  # of one project: every event is written down once for each of them


def _shown(project: ProjectRow, caller: Caller) -> Project:
    return Project(
        id=project.id,
        slug=project.slug,
        role=role_in(caller, project.id) or "read",
        settings=project.settings,
        created_at=project.created_at,
    )


# ---------------------------------------------------------------- projects
@router.post("/projects", status_code=201, response_model=Project, responses=errors(409))
async def create_project(deps: DepsDep, caller: CallerDep, request: Request, wanted: NewProject) -> Response:
    """Make a project. Needs the role admin in all projects."""
    check_global(caller, "admin")

    async def work() -> Response:
        project = await in_thread(_create, deps, caller, wanted)
        return created(_shown(project, caller), headers={"Location": f"/api/v1/projects/{project.id}"})

    return await once(deps, caller, "projects", request, fingerprint("project", wanted.model_dump()), work)


def _create(deps: Deps, caller: Caller, wanted: NewProject) -> ProjectRow:
    # the chunk profile is kept from the first day: another default of the server must not cut its documents anew
    settings = settings_of({"chunking": deps.settings.chunking.model_dump()}, wanted.settings)
    effective_settings(deps.settings, settings, {})  # refuses what no upload could be processed with
    project = deps.registry.add_project(wanted.slug, settings)
    deps.registry.audit(project.id, caller.subject, "project.create", project.id, {"settings": settings})
    return project


@router.get("/projects", responses=errors())
def list_projects(deps: DepsDep, caller: CallerDep) -> ProjectList:
    """The projects in which the caller has a role."""
    return ProjectList(projects=[_shown(project, caller) for project in _visible(deps, caller)])


def _visible(deps: Deps, caller: Caller) -> list[ProjectRow]:
    projects = {project.id: project for project in deps.registry.projects()}
    return [projects[project_id] for project_id in seen_projects(caller, projects)]


@router.get("/projects/{project_id}", responses=errors())
def get_project(deps: DepsDep, caller: CallerDep, project_id: str) -> Project:
    return _shown(visible_project(deps, caller, project_id, "read"), caller)


@router.patch("/projects/{project_id}", responses=errors())
def change_project(deps: DepsDep, caller: CallerDep, project_id: str, change: ProjectChange) -> Project:
    """Change settings, limits and retention; what is left out stays. They hold for what is processed from now on."""
    project = visible_project(deps, caller, project_id, "admin")

    def changed_from(kept: dict[str, object]) -> dict[str, object]:
        settings = settings_of(kept, change.settings)
        effective_settings(deps.settings, settings, {})
        return settings

    changed = deps.registry.update_project_settings(project.id, changed_from)
    given = change.model_dump(exclude_unset=True)
    deps.registry.audit(project.id, caller.subject, "project.update", project.id, given)
    return _shown(changed, caller)


def settings_of(kept: dict[str, object], change: ProjectSettings) -> dict[str, object]:
    """The project's settings after a change; null takes a setting back to the server's default."""
    settings: dict[str, Any] = dict(kept)
    for name, value in change.model_dump(exclude_unset=True).items():
        if isinstance(value, dict):
            value = {k: v for k, v in {**settings.get(name, {}), **value}.items() if v is not None} or None
        if value is None:
            settings.pop(name, None)
        else:
            settings[name] = value
    return settings


# ---------------------------------------------------------------- webhooks
def _webhook(row: WebhookRow) -> Webhook:
    return Webhook(id=row.webhook_id, url=row.url, events=row.events, created_at=row.created_at)


@router.post("/projects/{project_id}/webhooks", status_code=201, response_model=CreatedWebhook, responses=errors(409))
async def create_webhook(
    deps: DepsDep, caller: CallerDep, request: Request, project_id: str, wanted: NewWebhook
) -> Response:
    """Have events delivered to an address of yours, signed as Standard Webhooks says."""
    project = await in_thread(visible_project, deps, caller, project_id, "admin")
    await in_thread_of(RESOLVING, check_url, wanted.url, deps.settings.webhooks)

    async def work() -> Response:
        await in_thread(_check_number, deps, project.id)
        row = await in_thread(deps.registry.add_webhook, project.id, wanted.url, wanted.events)
        await in_thread(deps.registry.audit, project.id, caller.subject, "webhook.create", row.webhook_id)
        shown = CreatedWebhook(**_webhook(row).model_dump(), secret=row.secret)
        return created(shown, headers={"Location": f"/api/v1/projects/{project.id}/webhooks/{row.webhook_id}"})

    return await once(deps, caller, project.id, request, fingerprint("webhook", wanted.model_dump()), work)


def _check_number(deps: Deps, project_id: str) -> None:
    if len(deps.registry.webhooks(project_id)) >= MOST_WEBHOOKS:
        message = f"the project has {MOST_WEBHOOKS} webhooks, which is the most there may be"
        raise InputError(message, Code.LIMIT_EXCEEDED, details={"limit": MOST_WEBHOOKS})


@router.get("/projects/{project_id}/webhooks", responses=errors())
def list_webhooks(deps: DepsDep, caller: CallerDep, project_id: str) -> WebhookList:
    project = visible_project(deps, caller, project_id, "admin")
    return WebhookList(webhooks=[_webhook(row) for row in deps.registry.webhooks(project.id)])


@router.delete("/projects/{project_id}/webhooks/{webhook_id}", status_code=204, responses=errors())
def delete_webhook(deps: DepsDep, caller: CallerDep, project_id: str, webhook_id: str) -> Response:
    project = visible_project(deps, caller, project_id, "admin")
    if not deps.registry.remove_webhook(project.id, webhook_id):
        raise _no_webhook()
    deps.registry.audit(project.id, caller.subject, "webhook.delete", webhook_id)
    return Response(status_code=204)


@router.get("/projects/{project_id}/webhooks/{webhook_id}/deliveries", responses=errors())
def list_deliveries(
    deps: DepsDep,
    caller: CallerDep,
    project_id: str,
    webhook_id: str,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
    per_page: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DeliveryPage:
    """The delivery log of a webhook, newest first."""
    project = visible_project(deps, caller, project_id, "admin")
    if webhook_id not in {row.webhook_id for row in deps.registry.webhooks(project.id)}:
        raise _no_webhook()
    rows = deps.registry.deliveries(webhook_id, cursor, per_page)
    shown = [
        Delivery(
            id=row.delivery_id,
            event_type=row.event_type,
            event_id=row.event_id,
            status=row.status,  # pyright: ignore[reportArgumentType]
            attempts=row.attempt,
            response_status=row.response_status,
            error=row.error or None,
            next_attempt_at=row.next_attempt_at,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in rows
    ]
    return DeliveryPage(deliveries=shown, next_cursor=rows[-1].delivery_id if len(rows) == per_page else None)


def _no_webhook() -> InputError:
    return InputError("there is no such webhook", Code.JOB_NOT_FOUND)


# ---------------------------------------------------------------- audit and statistics
@router.get("/projects/{project_id}/audit", responses=errors())
def get_audit(
    deps: DepsDep,
    caller: CallerDep,
    project_id: str,
    cursor: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    per_page: Annotated[int, Query(ge=1, le=200)] = 50,
) -> AuditPage:
    """Who changed what, newest first."""
    project = visible_project(deps, caller, project_id, "admin")
    rows = deps.registry.audit_log(project.id, cursor, per_page)
    entries = [
        AuditEntry(id=e.id, at=e.at, actor=e.actor, action=e.action, target=e.target, details=e.details) for e in rows
    ]
    return AuditPage(entries=entries, next_cursor=str(rows[-1].id) if len(rows) == per_page else None)


@router.get("/stats", responses=errors())
def get_stats(
    deps: DepsDep, caller: CallerDep, project_id: Annotated[str | None, Query(max_length=100)] = None
) -> Stats:
    """Counts of one project, or of all that the caller sees."""
    chosen = [visible_project(deps, caller, project_id, "read")] if project_id else _visible(deps, caller)
    waiting, working = deps.registry.queue_depth() if caller.roles.get(ALL) == "admin" else (None, None)
    return Stats(
        projects=[_stats(deps, project) for project in chosen], uploads_waiting=waiting, uploads_processing=working
    )


def _stats(deps: Deps, project: ProjectRow) -> ProjectStats:
    counts = deps.registry.stats(project.id)
    visible, chunks = counts.pop("visible"), counts.pop("chunks")
    return ProjectStats(
        project_id=project.id, slug=project.slug, documents=counts, visible_documents=visible, visible_chunks=chunks
    )
