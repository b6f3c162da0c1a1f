"""The tokens file: who is in it, when it is read again, and what stops the server."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from engine.errors import Code, ConfigError, CorpusError
from engine.settings import Settings
from serve.auth import digest, make_authenticator, new_token, project_of

TOKEN, OTHER = new_token(), new_token()


class NoTokens:
    def token(self, sha256: str) -> None:
        raise AssertionError("the registry is not to be asked")


def write(path: Path, content: object, mode: int = 0o600) -> Path:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    path.chmod(mode)
    return path


def entry(token: str = TOKEN, name: str = "importer", **more: object) -> dict[str, object]:
    return {"name": name, "sha256": digest(token), "roles": {"handbook": "write"}, **more}


def test_a_listed_token_is_its_caller(tmp_path: Path, settings_with: Callable[..., Settings]) -> None:
    entries = [
        entry(principals=["staff"], expires_at="2999-01-01T00:00:00Z"),
        entry(OTHER, "root", roles={"*": "admin"}),
    ]
    authenticator = make_authenticator(settings_with(tokens_file=write(tmp_path / "t.yaml", entries)), NoTokens())
    assert authenticator.required
    caller = authenticator.authenticate(TOKEN)
    assert (caller.subject, caller.roles) == ("importer", {project_of("handbook"): "write"})
    assert caller.principals == ["importer", "staff"]
    assert authenticator.authenticate(OTHER).principals is None


@pytest.mark.parametrize("token", [None, "", "x", TOKEN[:-1], TOKEN + " ", TOKEN.lower(), "tökén" * 10, "a" * 20_000])
def test_any_other_token_is_refused(tmp_path: Path, settings_with: Callable[..., Settings], token: str | None) -> None:
    authenticator = make_authenticator(settings_with(tokens_file=write(tmp_path / "t.yaml", [entry()])), NoTokens())
    with pytest.raises(CorpusError) as caught:
        authenticator.authenticate(token)
    assert caught.value.code is Code.UNAUTHENTICATED
    assert caught.value.details == {"reason": "invalid_token" if token else "missing_token"}
    assert not token or len(token) < 2 or token not in caught.value.message


def test_expired_entries_are_refused(tmp_path: Path, settings_with: Callable[..., Settings]) -> None:
    file = write(
        tmp_path / "t.yaml", [entry(expires_at="2020-01-01T00:00:00"), entry(OTHER, "b", expires_at="2999-01-01")]
    )
    authenticator = make_authenticator(settings_with(tokens_file=file), NoTokens())
    with pytest.raises(CorpusError, match="expired"):
        authenticator.authenticate(TOKEN)
    assert authenticator.authenticate(OTHER).subject == "b"


def test_a_changed_file_counts_at_once_and_a_broken_one_never(
    tmp_path: Path, settings_with: Callable[..., Settings], caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path / "t.yaml", [entry()])
    authenticator = make_authenticator(settings_with(tokens_file=file), NoTokens())
    write(file, [entry(OTHER, "later")])
    assert authenticator.authenticate(OTHER).subject == "later"
    with pytest.raises(CorpusError):
        authenticator.authenticate(TOKEN)
    for broken in ("- {name: x", [entry(roles={"a": "owner"})], "", [entry(), entry()]):
        write(file, broken)
        assert authenticator.authenticate(OTHER).subject == "later"
    write(file, [entry()], 0o666)
    assert authenticator.authenticate(OTHER).subject == "later"
    file.unlink()
    for _ in range(3):
        assert authenticator.authenticate(OTHER).subject == "later"
    complaints = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert len(complaints) == 6  # each broken content once, however often it is looked at
    assert all(str(file) == r.__dict__["settings_file"] for r in complaints)
    write(file, [])
    with pytest.raises(CorpusError):
        authenticator.authenticate(OTHER)


def test_a_file_swapped_in_with_an_old_time_counts_too(tmp_path: Path, settings_with: Callable[..., Settings]) -> None:
    file = write(tmp_path / "t.yaml", [entry()])
    authenticator = make_authenticator(settings_with(tokens_file=file), NoTokens())
    new = write(tmp_path / "new.yaml", [entry(OTHER)])
    before = file.stat()
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(file)
    assert authenticator.authenticate(OTHER).subject == "importer"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("- {name: x", "not YAML at line"),
        ("", "must be a list"),
        ("tokens: []", "must be a list"),
        ("[5]", "entry 1"),
        ([entry(), {"name": "x", "roles": {}}], r"entry 2 \(sha256\): Field required"),
        ([entry() | {"sha256": TOKEN}], r"entry 1 \(sha256\)"),
        ([entry(roles={"a": "owner"})], r"entry 1 \(roles\)"),
        ([entry(roles={"Not A Slug": "read"})], "entry 1.*slug"),
        ([entry(name="")], "entry 1.*printable"),
        ([entry() | {TOKEN: "x"}], "entry 1: Extra inputs"),
        ([entry(), entry(OTHER)], "entry 2.*earlier one"),
        ([entry(), entry(name="b")], "entry 2.*earlier one"),
        ([entry(expires_at="soon")], r"entry 1 \(expires_at\)"),
    ],
)
def test_a_broken_file_stops_the_server_and_repeats_no_secret(
    tmp_path: Path, settings_with: Callable[..., Settings], content: object, says: str
) -> None:
    settings = settings_with(tokens_file=write(tmp_path / "t.yaml", content))
    with pytest.raises(ConfigError, match=says) as caught:
        make_authenticator(settings, NoTokens())
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "good"), [(0o600, True), (0o440, True), (0o644, False), (0o620, False), (0o602, False)]
)
def test_strangers_may_neither_read_nor_change_it(
    tmp_path: Path, settings_with: Callable[..., Settings], mode: int, good: bool
) -> None:
    settings = settings_with(tokens_file=write(tmp_path / "t.yaml", [entry()], mode))
    if good:
        assert make_authenticator(settings, NoTokens()).authenticate(TOKEN).subject == "importer"
    else:
        with pytest.raises(ConfigError, match="chmod 640"):
            make_authenticator(settings, NoTokens())


def test_a_missing_file_or_a_folder_stops_the_server(tmp_path: Path, settings_with: Callable[..., Settings]) -> None:
    for path in (tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(ConfigError, match="cannot read"):
            make_authenticator(settings_with(tokens_file=path), NoTokens())
