"""Submit a backfill to a Ray cluster as a job, which goes on when the submitting process is gone.

from jobs.submit import submit_backfill
job = submit_backfill("s3://bucket/contracts", project="contracts", address="http://127.0.0.1:8265")
job.follow()

The job runs `corpus backfill` on the cluster's head, where Corpus is installed; nothing is uploaded unless asked.
Settings travel as jobs/submission.py says; secrets do not.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import Code, ConfigError, CorpusError, StorageError
from engine.settings import load
from jobs.submission import STOP_SECONDS, Submission, plan_submission

if TYPE_CHECKING:
    import pandas as pd

ADDRESS = "http://127.0.0.1:8265"
ENDED = {"SUCCEEDED", "FAILED", "STOPPED"}
PATIENCE_SECONDS = 60.0  # how long a job is watched although the cluster does not answer
NOT_UPLOADED = [".git", ".venv", ".demo", "__pycache__", "node_modules"]


class UnreachableError(ConfigError):
    """No cluster answers at the address."""


# ---------------------------------------------------------------- submitting
def submit_backfill(
    source: str,
    project: str,
    address: str = ADDRESS,
    *,
    key: str = "",
    overrides: Mapping[str, object] | None = None,
    config: Path | None = None,
    working_dir: Path | None = None,
    command: str = "corpus",
    **options: Any,
) -> SubmittedJob:
    """Start `corpus backfill` on the cluster whose dashboard is at `address`, and return at once.

    The same project, source, options, settings and `key` name the same job: one that still runs is returned
    instead of a second one (`joined`), one that has ended is followed by a new one with a number behind its name.
    `overrides` maps dotted settings to values, as flags do; `command` is how Corpus is called there; `options` are
    those of `corpus backfill`, see `OPTIONS`. Raises ConfigError for secrets, for a cluster that cannot be reached
    and for one that wants another token.
    """
    planned = plan_submission(source, project, load(overrides, config), overrides or {}, options, key, command)
    runtime: dict[str, Any] = {"env_vars": planned.environment}
    if working_dir is not None:
        runtime |= {"working_dir": str(working_dir), "excludes": NOT_UPLOADED}
    client = connect(address)
    with _talking(address):
        return _submit(client, address, planned, runtime)


def _submit(client: Any, address: str, planned: Submission, runtime: dict[str, Any]) -> SubmittedJob:
    while True:
        number, status = _latest(client, planned.name)
        if number and status not in ENDED:
            return SubmittedJob(_numbered(planned.name, number), address, client, joined=True)
        job_id = _numbered(planned.name, number + 1)
        try:
            client.submit_job(entrypoint=planned.entrypoint, submission_id=job_id, runtime_env=runtime)
        except RuntimeError as error:
            if "already exists" not in str(error):
                raise
            continue  # someone else submitted it just now
        return SubmittedJob(job_id, address, client)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def _latest(client: Any, name: str) -> tuple[int, str]:
    """Number and status of the newest job of that name; number 0 when there is none."""
    pattern = re.compile(rf"{re.escape(name)}(?:-(\d+))?")
    found = [(int(match[1] or 1), job.status.value) for job, match in _matching(client, pattern)]
    return max(found, default=(0, ""))


def _matching(client: Any, pattern: re.Pattern[str]) -> list[tuple[Any, re.Match[str]]]:
    pairs = [(job, pattern.fullmatch(job.submission_id or "")) for job in client.list_jobs()]
    return [(job, match) for job, match in pairs if match]


# ---------------------------------------------------------------- the cluster
def connect(address: str) -> Any:
    """Ray's client for the jobs of the cluster at `address`, with this account's token when there is one.

    Raises ConfigError when nothing answers or the token is missing or wrong.
    """
    logging.getLogger("ray.widgets").setLevel(logging.WARNING)  # in a notebook it recommends packages
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        from ray._private.authentication import authentication_token_setup as tokens
        from ray._raylet import AuthenticationTokenLoader  # pyright: ignore[reportAttributeAccessIssue] - compiled
        from ray.job_submission import JobSubmissionClient

    tokens.logger.setLevel(logging.ERROR)  # it warns that a token is used
    with _talking(address), _only(address):
        AuthenticationTokenLoader.instance().reset_cache()  # the file may have been mended meanwhile
        # A token at hand is used unless RAY_AUTH_MODE says otherwise, as `ray start` and ray.init() do by themselves.
        tokens.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
        return JobSubmissionClient(address)


@contextmanager
def _only(address: str) -> Generator[None]:
    """Ray lets variables of the environment win over the address it is given; here the address wins."""
    before = os.environ.get("RAY_API_SERVER_ADDRESS")
    os.environ["RAY_API_SERVER_ADDRESS"] = address
    try:
        yield
    finally:
        if before is None:
            del os.environ["RAY_API_SERVER_ADDRESS"]
        else:
            os.environ["RAY_API_SERVER_ADDRESS"] = before


@contextmanager
def _talking(address: str) -> Generator[None]:
    """What can go wrong between here and the cluster, in this project's errors."""
    from ray.exceptions import AuthenticationError

    try:
        yield
    except AuthenticationError as error:
        raise ConfigError(_about_tokens(address, str(error))) from error
    except OSError as error:
        raise UnreachableError(
            f"no Ray dashboard answers at {address}: is the cluster up, and is its port 8265 forwarded to here?"
        ) from error
    except RuntimeError as error:
        if "status code 404" in str(error):
            raise CorpusError("the cluster knows no such job", Code.JOB_NOT_FOUND) from error
        last = str(error).strip().splitlines()[-1][:300]
        raise CorpusError(f"the cluster at {address} answered with an error: {last}") from error


def _about_tokens(address: str, told: str) -> str:
    what = "wants a token" if "Authentication required" in told else "does not accept this token"
    return (
        f"the Ray cluster at {address} {what}. Run `ray get-auth-token` on its head node, put what it prints into "
        "~/.ray/auth_token here (readable by you alone) or into RAY_AUTH_TOKEN, and set RAY_AUTH_MODE=token"
    )


# ---------------------------------------------------------------- a job
@dataclass(slots=True)
class SubmittedJob:
    """A backfill on a cluster. `joined`: it was running already when it was submitted again."""

    id: str
    address: str
    client: Any
    joined: bool = False

    def status(self) -> str:
        """PENDING, RUNNING, SUCCEEDED, FAILED or STOPPED."""
        return self._details().status.value

    def exit_status(self) -> int | None:
        """What `corpus backfill` ended with (README.md has the list); None while it runs or when it was killed."""
        return self._details().driver_exit_code

    def logs(self) -> str:
        """Everything the job has written so far."""
        with _talking(self.address):
            return self.client.get_job_logs(self.id)

    def wait(self, seconds: float | None = None) -> str:
        """Wait for the end, at most `seconds`; the status then."""
        return self._watch(None, seconds)

    def follow(self, write: Callable[[str], object] | None = None) -> str:
        """Show the job's progress until it ends, then return its status. Interrupting this does not stop the job."""
        return self._watch(write or sys.stdout.write, None)

    def stop(self) -> bool:
        """Stop the job and wait until it has; False when it had ended already. The same backfill goes on later."""
        with _talking(self.address):
            stopped: bool = self.client.stop_job(self.id)
        self.wait(STOP_SECONDS + PATIENCE_SECONDS)
        return stopped

    def report(self) -> dict[str, Any]:
        """The run's report, as in its report.json. Raises CorpusError when the job left none."""
        written = self.logs()
        try:
            found, _ = json.JSONDecoder().raw_decode(written, _report_start(written))
        except ValueError as error:
            raise CorpusError(f"job {self.id} left no report; see its logs") from error
        return found

    def to_pandas(self, home: Path | None = None) -> pd.DataFrame:
        """One row per document that was worked on, from the outcome files under `home` (default: the setting).

        Raises StorageError when this machine has no such run: they lie on the cluster's head.
        """
        import pandas as pd

        report = self.report()
        folder = (home or load().home) / "runs" / str(report["run_id"])
        if not folder.is_dir():
            raise StorageError(f"this machine has no {folder}: a run's outcomes lie on the cluster's head")
        files = sorted(folder.glob("outcomes-*.parquet"))
        return pd.concat([pd.read_parquet(f) for f in files], ignore_index=True) if files else pd.DataFrame()

    def describe(self) -> dict[str, Any]:
        """The job for people and programs."""
        return described(self._details())

    def _details(self) -> Any:
        with _talking(self.address):
            return self.client.get_job_info(self.id)

    def _watch(self, write: Callable[[str], object] | None, seconds: float | None) -> str:
        shown, answered, begun = 0, time.monotonic(), time.monotonic()
        while True:
            try:
                status = self.status()
                text = _progress(self.logs(), status in ENDED) if write else ""
                answered = time.monotonic()
            except UnreachableError:
                if time.monotonic() - answered > PATIENCE_SECONDS:
                    raise
                status, text = "", ""
            if write and len(text) > shown:
                write(text[shown:])
                shown = len(text)
            if status in ENDED or (seconds is not None and time.monotonic() - begun > seconds):
                return status
            time.sleep(min(30.0, max(0.5, len(text) / 200_000)))  # the whole log is sent each time


def described(job: Any) -> dict[str, Any]:
    """One job out of Ray's list; its message without the log that Ray appends to it."""
    return {
        "job": job.submission_id,
        "status": job.status.value,
        "exit_status": job.driver_exit_code,
        "started_at": _stamp(job.start_time),
        "ended_at": _stamp(job.end_time),
        "entrypoint": job.entrypoint,
        "message": (job.message or "").partition("\n")[0],
    }


def jobs_at(address: str) -> list[dict[str, Any]]:
    """The backfills that were submitted to a cluster, newest first."""
    client = connect(address)
    with _talking(address):
        found = [described(job) for job, _ in _matching(client, re.compile(r"backfill-.*"))]
    return sorted(found, key=lambda job: job["started_at"] or "", reverse=True)


def job_at(job_id: str, address: str = ADDRESS) -> SubmittedJob:
    """A job that was submitted earlier. Raises CorpusError(JOB_NOT_FOUND)."""
    job = SubmittedJob(job_id, address, connect(address))
    job.status()
    return job


def _stamp(milliseconds: int | None) -> str | None:
    if not milliseconds:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds / 1000))


def _report_start(text: str) -> int:
    """Where the report begins in a log; its end when there is none."""
    found = text.rfind("\n{\n")
    return len(text) if found < 0 else found + 1


def _progress(text: str, ended: bool) -> str:
    """A log without the report at its end, in whole lines as long as more may come."""
    text = text[: _report_start(text)]
    return text if ended else text[: text.rfind("\n") + 1]
