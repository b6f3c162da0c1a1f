"""The `corpus` command. Each command is thin: parse, call the engine or a job, print.

Exit status: 0 done; 1 done, but more failures than --max-failed (or, for one document, it failed); 2 wrong
usage; 3 settings or machine do not fit; 4 the source cannot be read; 5 not found; 6 registry or store failed;
130 interrupted.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.errors import Code, ConfigError, CorpusError, SourceError, StorageError
from engine.settings import Settings, decoded, load
from jobs.submit_cli import app as submit_app
from jobs.token import app as token_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Corpus: turns document collections into a searchable, citable corpus.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ProjectName = Annotated[str, typer.Option("--project", "-p", help="Project, by slug or id.")]
EXIT_FAILED, EXIT_USAGE, EXIT_CONFIG, EXIT_SOURCE, EXIT_NOT_FOUND, EXIT_STORAGE, EXIT_INTERRUPTED = (
    1,
    2,
    3,
    4,
    5,
    6,
    130,
)
NOT_FOUND = {Code.DOCUMENT_NOT_FOUND, Code.PROJECT_NOT_FOUND, Code.JOB_NOT_FOUND}


@app.callback()
def common(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option(help="YAML settings file.")] = None,
    home: Annotated[Path | None, typer.Option(help="Where registry, vectors and runs live.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, e.g. --set limits.file_mb=200; may repeat.")
    ] = None,
) -> None:
    """Options for every command."""
    overrides: dict[str, object] = {"home": home}
    for pair in set_ or []:
        name, _, value = pair.partition("=")
        overrides[name.strip()] = decoded(value)
    context.obj = {"overrides": overrides, "config": config}


def settings_of(context: typer.Context, **more: object) -> Settings:
    """The effective settings of this invocation."""
    return load({**context.obj["overrides"], **more}, context.obj["config"])


def echo(value: object, as_json: bool, text: str | None = None) -> None:
    """Print JSON or, without --json, the text."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str) if as_json else printable(text or ""))


def printable(text: str) -> str:
    """Text that cannot steer the terminal: control characters, which names and documents may hold, are shown."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


@app.command()
def backfill(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Folder, file, glob, s3://bucket/prefix, other URI, or a manifest.")],
    project: ProjectName,
    source_name: Annotated[str | None, typer.Option(help="A lasting name for the source; default its address.")] = None,
    manifest: Annotated[bool, typer.Option(help="SOURCE is a .parquet, .csv or .jsonl file that lists URIs.")] = False,
    local: Annotated[bool, typer.Option("--local", help="In this process, without Ray.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be done and what it would take; do nothing.")
    ] = False,
    max_documents: Annotated[int | None, typer.Option(min=1, help="Stop cleanly after this many.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop cleanly once this much is spent.")] = None,
    max_failed: Annotated[int, typer.Option(min=0, help="More failures than this: exit status 1.")] = 0,
    delete_missing: Annotated[bool, typer.Option(help="Delete documents that left the source.")] = False,
    delete_share: Annotated[float, typer.Option(help="Refuse to delete more than this share.")] = 0.5,
    password: Annotated[list[str] | None, typer.Option(help="Password for encrypted documents; may repeat.")] = None,
    language: Annotated[str | None, typer.Option(help="ISO 639-1 code, when all documents share it.")] = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> None:
    """Make or update PROJECT from SOURCE. Unchanged documents cost nothing; failed ones are tried again."""
    settings = settings_of(context, password=password or None, **{"pipeline.workers": workers})
    options: dict[str, Any] = {
        "source_name": source_name, "manifest": manifest, "local": local, "language": language,
        "max_documents": max_documents, "max_cost": max_cost, "delete_missing": delete_missing,
        "delete_share": delete_share,
    }  # fmt: skip
    if plan:
        from jobs.estimate import describe, estimate

        figures = estimate(source, project, settings, **options)
        echo(figures, as_json, describe(figures))
        return
    run_backfill(source, project, settings, options, max_failed, quiet, as_json)


def run_backfill(
    source: str, project: str, settings: Settings, options: dict[str, Any], max_failed: int, quiet: bool, as_json: bool
) -> None:
    """Run, show progress, print the result, and leave with the right exit status."""
    from jobs.backfill import backfill as run
    from jobs.progress import Display, summary

    # Ray prints what it has to say of lost workers to standard output, which belongs to the result
    with redirect_stdout(sys.stderr), Display(quiet) as display:
        result = run(source, project, settings, display, **options)
    text = f"{summary(result.totals)}\n{result.status}: run {result.run_id}, report {result.folder / 'report.html'}"
    if result.status == "interrupted":
        text += "\nStopped. The same command goes on where this run left off."
    echo(result.report, as_json, text)
    if result.status == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.totals.all_failed > max_failed:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def retry(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="A run's id.")],
    local: Annotated[bool, typer.Option("--local", help="In this process, without Ray.")] = False,
    max_failed: Annotated[int, typer.Option(min=0)] = 0,
    password: Annotated[list[str] | None, typer.Option(help="Password for encrypted documents; may repeat.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    as_json: Json = False,
) -> None:
    """Try the failed documents of a run's source again, with the run's options."""
    from engine.registry.queries import open_registry

    settings = settings_of(context, password=password or None)
    row = open_registry(settings).run(run)
    if row is None:
        raise CorpusError(f"there is no run {run!r}", Code.JOB_NOT_FOUND)
    kept = {k: row.options[k] for k in ("source_name", "manifest", "language") if k in row.options}
    options: dict[str, Any] = {**kept, "source_name": row.source, "local": local, "only_failed": True}
    run_backfill(row.uri, row.project_id, settings, options, max_failed, quiet, as_json)


@app.command()
def search(
    context: typer.Context,
    query: str,
    project: ProjectName,
    top_k: Annotated[int, typer.Option(min=1, max=100)] = 10,
    mode: Annotated[str, typer.Option(help="hybrid, dense, content, path or term.")] = "hybrid",
    explain: Annotated[bool, typer.Option(help="Show each channel's rank and score.")] = False,
    as_json: Json = False,
) -> None:
    """Search a project; every hit cites document, page and section."""
    from jobs.lookup import run_search, search_text

    found = run_search(settings_of(context), project, query, top_k, mode, explain)
    echo(found, as_json, search_text(found))


@app.command()
def show(
    context: typer.Context,
    document: Annotated[str, typer.Argument(help="A document's id, or with --project its key.")],
    project: Annotated[str | None, typer.Option("--project", "-p")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Its text as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """One document: state, facts, losses, error, chunks; or its text."""
    from jobs.lookup import show_document, show_text

    if markdown:
        from jobs.stored_text import stored_markdown

        text, origin = stored_markdown(settings_of(context), document, project)
        echo({"markdown": text, "origin": origin}, as_json, text)
        typer.echo(f"(from {origin})", err=True)
        return
    found = show_document(settings_of(context), document, project)
    echo(found, as_json, show_text(found))


@app.command()
def extract(
    context: typer.Context,
    file: Path,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown (the default without --boxes).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole record.")] = False,
    chunks: Annotated[bool, typer.Option("--chunks", help="Chunks, one JSON object a line.")] = False,
    boxes: Annotated[
        Path | None, typer.Option(help="Write a picture of every page, with what was found on it, into this folder.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Cost against quality of PDF pages: fast, balanced or accurate.")
    ] = None,
    password: Annotated[list[str] | None, typer.Option(help="Password for encrypted documents; may repeat.")] = None,
    language: Annotated[str | None, typer.Option(help="ISO 639-1 code.")] = None,
) -> None:
    """One file, and what is inside it, through the parser: no store, no Ray."""
    from jobs.extract_file import extract_file

    settings = settings_of(context, password=password or None, **{"extraction.profile": profile})
    found = extract_file(file, settings, language)
    if boxes is not None and found[0].failure is None:
        from jobs.page_views import write_page_views

        written = write_page_views(file, found[0], boxes, settings)
        typer.echo(printable(f"{len(written)} page(s) under {boxes}, to be seen in index.html"), err=True)
    if boxes is None or markdown or as_json or chunks:
        _print_extraction(found, as_json and not markdown, chunks and not markdown)
    _report_extraction(found)


def _print_extraction(found: list[Any], as_json: bool, chunks: bool) -> None:
    from dataclasses import asdict

    from jobs.extract_file import json_of, markdown_of

    if as_json:
        echo([json_of(p) for p in found], True)
    elif chunks:
        for chunk in (c for p in found for c in p.chunks):
            typer.echo(json.dumps(asdict(chunk), ensure_ascii=False, default=str))
    else:
        typer.echo(markdown_of(found), nl=False)


def _report_extraction(found: list[Any]) -> None:
    for p in found:
        name = p.inner_path or p.filename
        if p.failure is not None:
            typer.echo(printable(f"{name}: {p.failure.code} ({p.failure.stage}): {p.failure.message}"), err=True)
        elif p.skip_reason:
            typer.echo(printable(f"{name}: {p.skip_reason}"), err=True)
    if found[0].failure is not None:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def status(
    context: typer.Context, run: Annotated[str | None, typer.Argument(help="A run's id.")] = None, as_json: Json = False
) -> None:
    """A run, or (without one) every project with its latest runs."""
    from jobs.lookup import status_of, status_text

    found = status_of(settings_of(context), run)
    echo(found, as_json, status_text(found))


@app.command()
def delete(
    context: typer.Context,
    document: Annotated[str, typer.Argument(help="A document's id, or with --project its key.")],
    project: Annotated[str | None, typer.Option("--project", "-p")] = None,
    as_json: Json = False,
) -> None:
    """Delete a document and everything found inside it."""
    from jobs.lookup import delete_document

    gone = delete_document(settings_of(context), document, project)
    echo({"deleted": gone}, as_json, f"deleted {len(gone)} document(s)")


@app.command()
def export(
    context: typer.Context,
    folder: Path,
    project: ProjectName,
    as_json: Json = False,
) -> None:
    """Write a project's corpus files: per document chunks.json, doc_nav.json and manifest.json."""
    from jobs.export import export_project

    counts = export_project(settings_of(context), project, folder)
    echo(counts, as_json, f"{counts['documents']} documents, {counts['chunks']} chunks under {folder}")


@app.command()
def sweep(
    context: typer.Context,
    older_than: Annotated[float, typer.Option(min=0, help="Seconds since the attempt began.")] = 3600,
    as_json: Json = False,
) -> None:
    """Remove what crashed attempts and deletions left in the store."""
    from jobs.lookup import sweep_store

    cleaned = sweep_store(settings_of(context), older_than)
    echo({"cleaned": cleaned}, as_json, f"cleaned {cleaned} document(s)")


@app.command()
def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Check this machine and print the effective settings."""
    from jobs.doctor import doctor_text, examine

    found = examine(settings_of(context))
    echo(found, as_json, doctor_text(found))
    if not all(check["ok"] for check in found["checks"]):
        raise typer.Exit(EXIT_CONFIG)


# ---------------------------------------------------------------- the online API, cluster jobs
@app.command()
def serve(
    context: typer.Context,
    local: Annotated[bool, typer.Option("--local", help="In this process, without Ray.")] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on; beyond loopback only with auth.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
) -> None:
    """Serve the upload and search API until SIGTERM or Ctrl-C."""
    from jobs.serve import serve as run

    run(settings_of(context, **{"serve.host": host, "serve.port": port}), local)


app.add_typer(token_app, name="token")
app.add_typer(submit_app, name="submit")


# ---------------------------------------------------------------- entry
@contextmanager
def _explained() -> Generator[None]:
    """Errors raised on purpose become one line and an exit status; all else keeps its traceback."""
    try:
        yield
    except CorpusError as error:
        typer.echo(printable(f"corpus: {error.message} [{error.code}]"), err=True)
        sys.exit(_status(error))


def _status(error: CorpusError) -> int:
    if error.code in NOT_FOUND:
        return EXIT_NOT_FOUND
    if error.code == Code.INVALID_REQUEST:
        return EXIT_USAGE
    for kind, value in ((ConfigError, EXIT_CONFIG), (SourceError, EXIT_SOURCE), (StorageError, EXIT_STORAGE)):
        if isinstance(error, kind):
            return value
    return EXIT_FAILED


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line. SIGTERM stops as cleanly as Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    with _explained():
        try:
            app()
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
