"""What a submitted backfill consists of: name, command line, environment; and what must never be among it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.settings import Settings, load
from jobs.submission import JOB_ENVIRONMENT, left_to_the_cluster, plan_submission, travelling


def settings(flags: dict[str, object] | None = None, **environment: str) -> Settings:
    return load(flags, environ=environment)


def plan(
    source: str = "s3://bucket/contracts", flags: dict[str, object] | None = None, key: str = "", **options: object
):
    return plan_submission(source, "demo", settings(flags), flags or {}, options, key)


def read_back(environment: dict[str, str]) -> Settings:
    """The settings as the job will have them."""
    return load(environ={k: v for k, v in environment.items() if not k.startswith("RAY_")})


def test_the_command_line_holds_what_was_asked_and_nothing_else() -> None:
    planned = plan(source_name="a b", manifest=True, delete_missing=False, max_documents=5, language=None, workers=3)
    assert shlex.split(planned.entrypoint) == [
        "corpus", "backfill", "--project", "demo", "--json", "--source-name", "a b", "--manifest",
        "--max-documents", "5", "--workers", "3", "--", "s3://bucket/contracts",
    ]  # fmt: skip
    assert planned.environment == JOB_ENVIRONMENT


def test_a_source_cannot_break_out_of_the_command_line() -> None:
    planned = plan("s3://bucket/$(rm -rf ~); 'x")
    assert shlex.split(planned.entrypoint)[-1] == "s3://bucket/$(rm -rf ~); 'x"
    done = subprocess.run(
        planned.entrypoint.replace("corpus ", "printf %s'\\n' ", 1),
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "s3://bucket/$(rm -rf ~); 'x"


def test_paths_are_absolute_and_option_like_ones_stay_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert shlex.split(plan("--local").entrypoint)[-2:] == ["--", str(tmp_path / "--local")]
    assert shlex.split(plan("../x/*.pdf").entrypoint)[-1] == str(tmp_path.parent / "x" / "*.pdf")


def test_the_same_backfill_has_the_same_name_and_another_one_another() -> None:
    name = plan().name
    assert name == plan().name
    assert name.startswith("backfill-demo-")
    others = [
        plan("s3://bucket/other"), plan(key="nightly"), plan(max_documents=1), plan(flags={"limits.file_mb": "7"}),
    ]  # fmt: skip
    assert len({name, *(other.name for other in others)}) == 5
    assert plan_submission("s3://b/x", "Ünï/../ $x", settings(), {}, {}).name.startswith("backfill-n-x-")


def test_unknown_options_and_passwords_are_refused() -> None:
    with pytest.raises(ConfigError, match="no option local"):
        plan(local=True)
    with pytest.raises(ConfigError, match="passwords do not travel"):
        plan(password=["hunter2"])


@pytest.mark.parametrize("source", ["https://user:hunter2@host/x", "https://host/x?sig=hunter2"])
def test_a_source_with_credentials_is_refused_without_repeating_them(source: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan(source)
    assert "hunter2" not in str(caught.value)


def test_content_travels_services_places_and_secrets_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(
        "home: /laptop\nscratch: /laptop/tmp\nchunking: {max_tokens: 300}\nocr: {enabled: false}\n"
        "store: {url: http://qdrant:6333}\nserve: {port: 9000}\nembedding: {device: cpu, model: some-model}\n"
        "extractors: {poison: 'mod:fn'}\nformats: {poison: ['.poison']}\n"
        "pipeline: {ray_address: 'ray:1', layout: fused}\n"
    )
    found = load(
        None, file,
        {
            "DATABASE_URL": "postgresql://u:hunter2@db/x", "QDRANT_API_KEY": "hunter2", "S3_SECRET_KEY": "hunter2",
            "LLM_GATEWAY_API_KEY": "hunter2", "CORPUS_PASSWORD": "[hunter2]", "PII_REDACTION_ENABLED": "true",
        },
    )  # fmt: skip
    environment = travelling(found, {})
    assert environment == {
        "CORPUS_CHUNKING__MAX_TOKENS": "300",
        "CORPUS_EMBEDDING__MODEL": "some-model",
        "CORPUS_EXTRACTORS": '{"poison": "mod:fn"}',
        "CORPUS_FORMATS": '{"poison": [".poison"]}',
        "CORPUS_OCR__ENABLED": "false",
        "CORPUS_PIPELINE__LAYOUT": "fused",
        "CORPUS_SECURITY__PII_REDACTION": "true",
    }
    assert left_to_the_cluster(found) == [
        "gateway.api_key", "objects.secret_key", "password", "registry.url", "store.api_key", "store.url",
    ]  # fmt: skip
    there = read_back(environment)
    for group in ("chunking", "ocr", "security", "extractors", "formats"):
        assert getattr(there, group) == getattr(found, group)


def test_flags_travel_whatever_they_are_about_and_read_back_the_same() -> None:
    flags: dict[str, object] = {
        "home": "/data", "scratch": "/data/tmp", "limits.file_mb": "7", "embedding.device": "cpu",
        "store.collection": "c", "security.pii_entities": ["PERSON", "IBAN"], "extractors.x": "mod:fn",
        "serve.api_replicas": [2, 3],
        "limits.pages": None,
    }  # fmt: skip
    chosen = settings(flags)
    there = read_back(travelling(chosen, flags))
    assert there == chosen


@pytest.mark.parametrize("name", ["store.api_key", "objects.secret_key", "gateway.api_key", "password", "registry.url"])
def test_a_secret_flag_is_refused_by_name_only(name: str) -> None:
    value: object = ["hunter2"] if name == "password" else "postgresql://u:hunter2@h/d"
    with pytest.raises(ConfigError) as caught:
        plan(flags={name: value})
    assert name in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_nothing_here_loads_ray() -> None:
    code = "import sys, jobs.submit, jobs.submit_cli, jobs.local_head; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_commands_are_part_of_the_command_line() -> None:
    from jobs import cli

    assert "submit" in [group.name for group in cli.app.registered_groups]
