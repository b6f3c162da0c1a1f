"""Backfills as jobs of a real Ray head: they outlive who submits them, are found again, and stop cleanly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import write_texts
from ray_head import TOKEN, running_head

from engine.errors import Code, CorpusError, StorageError
from jobs.submit import ENDED, SubmittedJob, UnreachableError, connect, job_at, submit_backfill

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def head() -> Iterator[str]:
    with running_head() as address:
        yield address


def corpus(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k != "RAY_AUTH_MODE"}
    return subprocess.run(
        [sys.executable, "-m", "jobs.cli", "--home", str(home), "submit", *arguments], cwd=ROOT, text=True,
        capture_output=True, env={**clean, **environment}, check=False,
    )  # fmt: skip


def until(job: SubmittedJob, text: str, seconds: float = 120) -> None:
    """Wait until the job has written `text`."""
    deadline = time.monotonic() + seconds
    while text not in job.logs():
        assert job.status() not in ENDED, job.logs()
        assert time.monotonic() < deadline, job.logs()
        time.sleep(0.3)


def test_a_job_outlives_its_submitter_and_is_found_again(head: str, tmp_path: Path) -> None:
    write_texts(tmp_path / "docs", 20)
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    home = tmp_path / "home"
    asked = ("backfill", str(tmp_path / "docs"), "-p", "demo", "--address", head, "--source-name", "docs")
    first = corpus(home, *asked, "--json")  # over, and its process with it
    assert first.returncode == 0, first.stderr
    name = json.loads(first.stdout)["job"]
    again = corpus(home, *asked, "--json")
    assert json.loads(again.stdout)["job"] == name
    assert f"{name} runs already" in again.stderr

    job = job_at(name, head)
    assert job.wait() == "FAILED"  # one document failed, none may
    assert job.exit_status() == 1
    assert (job.report()["totals"]["published"], job.report()["totals"]["failed"]["total"]) == (20, 1)
    frame = job.to_pandas(home)
    assert frame["status"].value_counts().to_dict() == {"published": 20, "failed": 1}
    with pytest.raises(StorageError, match="lie on the cluster's head"):
        job.to_pandas(tmp_path / "elsewhere")

    third = corpus(home, *asked, "--follow", "--json")
    found = json.loads(third.stdout)
    assert (third.returncode, found["job"], found["exit_status"]) == (1, f"{name}-2", 1)
    assert found["report"]["totals"]["skipped"]["unchanged"] == 20
    assert '"run_id"' not in third.stderr  # progress only
    listed = json.loads(corpus(home, "status", "--address", head, "--json").stdout)
    assert {name, f"{name}-2"} <= {each["job"] for each in listed}
    told = corpus(home, "status", name, "--address", head)
    assert (told.returncode, "21 inputs, 20 published, 1 failed" in told.stdout) == (1, True)


def test_follow_shows_every_line_once_and_the_environment_holds_no_secret(head: str, tmp_path: Path) -> None:
    write_texts(tmp_path / "docs", 3)
    secrets = {"S3_SECRET_KEY": "hunter2", "QDRANT_API_KEY": "hunter2"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in secrets.items():
            patch.setenv(name, value)
        flags = {"home": tmp_path / "home", "chunking.max_tokens": 100}
        job = submit_backfill(str(tmp_path / "docs"), "quiet", head, overrides=flags, max_failed=0)
    shown: list[str] = []
    assert job.follow(shown.append) == "SUCCEEDED"
    assert "".join(shown) == job.logs()[: job.logs().rindex("\n{\n") + 1]
    details = connect(head).get_job_info(job.id)
    assert "hunter2" not in details.model_dump_json()
    assert details.runtime_env == {
        "env_vars": {
            "CORPUS_CHUNKING__MAX_TOKENS": "100",
            "CORPUS_HOME": str(tmp_path / "home"),
            "CORPUS_PIPELINE__RAY_ADDRESS": "auto",
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "RAY_JOB_STOP_WAIT_TIME_S": "60",
        }
    }


def test_a_stopped_job_closes_its_run_and_goes_on_when_submitted_again(head: str, tmp_path: Path) -> None:
    write_texts(tmp_path / "docs", 150, sentences=20)
    home = tmp_path / "home"
    flags = {"home": home, "pipeline.block_documents": 4}
    job = submit_backfill(str(tmp_path / "docs"), "stopped", head, overrides=flags)
    until(job, " documents/s")
    stopped = corpus(home, "stop", job.id, "--address", head, "--json")
    assert (stopped.returncode, json.loads(stopped.stdout)["status"]) == (0, "STOPPED")
    assert job.report()["status"] == "interrupted"
    done = job.report()["totals"]["published"]
    assert job.stop() is False
    assert corpus(home, "status", job.id, "--address", head).returncode == 130
    second = submit_backfill(str(tmp_path / "docs"), "stopped", head, overrides=flags)
    assert (second.joined, second.id, second.wait()) == (False, f"{job.id}-2", "SUCCEEDED")
    totals = second.report()["totals"]
    assert totals["published"] + totals["skipped"].get("unchanged", 0) == 150
    assert totals["skipped"].get("unchanged", 0) >= done


def test_what_cannot_work_ends_at_once_and_says_why(head: str, tmp_path: Path) -> None:
    write_texts(tmp_path / "docs", 2)
    asked = ("backfill", str(tmp_path / "docs"), "-p", "demo", "--address", head, "--wait")
    too_many = corpus(tmp_path / "home", *asked, "--workers", "1000")
    assert too_many.returncode == 3
    assert "this cluster has 2 CPUs and 0 GPUs, too few for" in too_many.stdout
    absent = corpus(tmp_path / "home", *asked, "--command", "no-such-corpus")
    assert (absent.returncode, "install Corpus there" in absent.stdout) == (127, True)
    empty = corpus(tmp_path / "home", *asked, str(tmp_path / "docs"))
    assert empty.returncode == 2  # two sources


def test_tokens_and_addresses_that_do_not_fit_are_explained(head: str, tmp_path: Path) -> None:
    wrong = corpus(tmp_path, "status", "--address", head, RAY_AUTH_TOKEN="e2" * 32)
    assert (wrong.returncode, "does not accept this token" in wrong.stderr) == (3, True)
    # RAY_AUTH_TOKEN empty counts as absent, and this home has no file of it
    none = corpus(tmp_path, "status", "--address", head, RAY_AUTH_TOKEN="", HOME=str(tmp_path))
    assert (none.returncode, "wants a token" in none.stderr, "ray get-auth-token" in none.stderr) == (3, True, True)
    assert TOKEN not in wrong.stderr + none.stderr
    with pytest.raises(UnreachableError, match="no Ray dashboard answers at"):
        connect("http://127.0.0.1:9")
    with pytest.raises(CorpusError) as caught:
        job_at("backfill-nobody", head)
    assert caught.value.code == Code.JOB_NOT_FOUND
    elsewhere = corpus(tmp_path, "status", "--address", head, RAY_ADDRESS="ray://127.0.0.1:9")
    assert elsewhere.returncode == 0, elsewhere.stderr  # the address that was given wins
