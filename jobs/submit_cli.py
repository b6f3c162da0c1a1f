"""`corpus submit ...`: backfills as jobs of a Ray cluster. Thin: parse, call jobs/submit.py, print.

Exit status of `backfill` with --wait or --follow, and of `status`: that of the job once it has ended (see
jobs/cli.py), 1 when it died without one, 130 when it was stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jobs.submit import ADDRESS, SubmittedJob, job_at, jobs_at, submit_backfill

app = typer.Typer(no_args_is_help=True, help="Backfills as jobs of a Ray cluster; they outlive this process.")

Address = Annotated[
    str, typer.Option(envvar="RAY_API_SERVER_ADDRESS", help="The cluster's dashboard, as reachable from here.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
JobId = Annotated[str, typer.Argument(help="A job, as `corpus submit backfill` named it.")]
EXIT_DIED, EXIT_STOPPED, EXIT_NO_COMMAND = 1, 130, 127


@app.command()
def backfill(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="As the cluster's nodes see it: a path, s3://bucket/prefix, ...")],
    project: Annotated[str, typer.Option("--project", "-p", help="Project, by slug or id.")],
    source_name: Annotated[str | None, typer.Option(help="A lasting name for the source; default its address.")] = None,
    manifest: Annotated[bool, typer.Option(help="SOURCE is a .parquet, .csv or .jsonl file that lists URIs.")] = False,
    max_documents: Annotated[int | None, typer.Option(min=1, help="Stop cleanly after this many.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop cleanly once this much is spent.")] = None,
    max_failed: Annotated[int | None, typer.Option(min=0, help="More failures than this: exit status 1.")] = None,
    delete_missing: Annotated[bool, typer.Option(help="Delete documents that left the source.")] = False,
    delete_share: Annotated[float | None, typer.Option(help="Refuse to delete more than this share.")] = None,
    language: Annotated[str | None, typer.Option(help="ISO 639-1 code, when all documents share it.")] = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    address: Address = ADDRESS,
    key: Annotated[str, typer.Option(help="Tells apart submissions that are otherwise the same.")] = "",
    working_dir: Annotated[Path | None, typer.Option(help="Upload this folder, e.g. with your own extractors.")] = None,
    command: Annotated[str, typer.Option(help="How Corpus is called on the cluster's head.")] = "corpus",
    follow: Annotated[bool, typer.Option("--follow", help="Show progress until the job ends.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end without showing progress.")] = False,
    as_json: Json = False,
) -> None:
    """Submit `corpus backfill`. The same submission again finds the job that still runs, or starts it anew.

    Flags and settings about content go along. Secrets (and passwords of documents) never do: the cluster has them in
    its own environment.
    """
    from jobs.cli import settings_of
    from jobs.submission import left_to_the_cluster

    if left := left_to_the_cluster(settings_of(context)):
        typer.echo(f"the cluster uses its own {', '.join(left)}", err=True)
    options: dict[str, Any] = {
        "source_name": source_name, "manifest": manifest, "max_documents": max_documents, "max_cost": max_cost,
        "max_failed": max_failed, "delete_missing": delete_missing, "delete_share": delete_share,
        "language": language, "workers": workers,
    }  # fmt: skip
    job = submit_backfill(
        source, project, address, key=key, overrides=context.obj["overrides"], config=context.obj["config"],
        working_dir=working_dir, command=command, **options,
    )  # fmt: skip
    _announce(job)
    if follow:
        job.follow(_to_stderr)
    elif wait:
        job.wait()
    _show(job, as_json)
    if follow or wait:
        _leave(job)


@app.command()
def status(
    job: Annotated[str | None, typer.Argument(help="A job; without one, all of them.")] = None,
    address: Address = ADDRESS,
    as_json: Json = False,
) -> None:
    """One job, or every backfill that was submitted to the cluster."""
    from jobs.cli import echo

    if job is None:
        found = jobs_at(address)
        echo(found, as_json, "\n".join(_line(each) for each in found) or "no backfill was submitted here")
        return
    one = job_at(job, address)
    _show(one, as_json)
    _leave(one)


@app.command()
def logs(
    job: JobId,
    address: Address = ADDRESS,
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the job ends.")] = False,
) -> None:
    """What a job has written."""
    from jobs.cli import printable

    one = job_at(job, address)
    if follow:
        one.follow(_to_stderr)
        _show(one, False)
        _leave(one)
    typer.echo(printable(one.logs()), nl=False)


@app.command()
def stop(job: JobId, address: Address = ADDRESS, as_json: Json = False) -> None:
    """Stop a job and wait until it has; the same backfill goes on later where it left off."""

    one = job_at(job, address)
    one.stop()
    _show(one, as_json)


# ---------------------------------------------------------------- printing
def _announce(job: SubmittedJob) -> None:
    what = "runs already" if job.joined else "submitted"
    typer.echo(f"{job.id} {what} at {job.address}", err=True)


def _to_stderr(text: str) -> None:
    from jobs.cli import printable

    typer.echo(printable(text), nl=False, err=True)


def _show(job: SubmittedJob, as_json: bool) -> None:
    """The job, with its run's report once there is one."""
    from engine.errors import CorpusError
    from jobs.cli import echo

    found = job.describe()
    if found["exit_status"] is not None or found["status"] == "STOPPED":
        try:
            found["report"] = job.report()
        except CorpusError:
            found["report"] = None
    echo(found, as_json, _text(found, job))


def _line(found: dict[str, Any]) -> str:
    ended = f", ended {found['ended_at']}" if found["ended_at"] else ""
    return f"{found['job']}  {found['status']}  started {found['started_at']}{ended}"


def _text(found: dict[str, Any], job: SubmittedJob) -> str:
    lines = [_line(found)]
    if report := found.get("report"):
        totals = report["totals"]
        counts = f"{totals['inputs']} inputs, {totals['published']} published, {totals['failed']['total']} failed"
        lines.append(f"{report['status']}: run {report['run_id']}, {counts}, {totals['chunks']} chunks")
    elif found["exit_status"] == EXIT_NO_COMMAND:
        lines.append("the cluster's head does not find the command: install Corpus there, or give --command")
    elif found["exit_status"]:
        lines += [line for line in job.logs().splitlines() if line.startswith("corpus: ")][-1:] or [found["message"]]
    elif found["status"] == "FAILED":
        lines.append(found["message"])
    return "\n".join(lines)


def _leave(job: SubmittedJob) -> None:
    """Leave with the exit status of an ended job."""
    status = job.status()
    if status == "STOPPED":
        raise typer.Exit(EXIT_STOPPED)
    if status == "FAILED":
        raise typer.Exit(job.exit_status() or EXIT_DIED)
