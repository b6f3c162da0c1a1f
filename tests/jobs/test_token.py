"""`corpus token`: a token made here is one the server takes; it is shown once and kept as its hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from engine.errors import CorpusError, InputError
from engine.registry.queries import Registry, open_registry
from engine.settings import Settings, load
from jobs import token
from serve.auth import digest, make_authenticator
from serve.auth.bearer import is_ours
from serve.logs import caller_id

app = typer.Typer()


@app.callback()
def common(context: typer.Context, home: str) -> None:
    context.obj = {"overrides": {"home": home}, "config": None}


app.add_typer(token.app, name="token")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": str(tmp_path), "auth.registry_tokens": True}, environ={})


@pytest.fixture
def registry(settings: Settings) -> Registry:
    registry = open_registry(settings)
    registry.project("handbook", create=True)
    return registry


def run(home: Path, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(home), "token", *arguments], input=stdin)


def test_a_created_token_opens_the_api_until_it_is_revoked(
    tmp_path: Path, settings: Settings, registry: Registry
) -> None:
    options = ["--role", "handbook=write", "--role", "*=read", "--principal", "staff", "--expires-days", "30"]
    made = run(tmp_path, "create", "--name", "ci", *options, "--json")
    shown: dict[str, Any] = json.loads(made.stdout)
    assert is_ours(shown["token"])
    caller = make_authenticator(settings, registry).authenticate(shown["token"])
    assert (caller.subject, caller.principals) == ("ci", ["ci", "staff"])
    assert caller.roles == {registry.project("handbook").id: "write", "*": "read"}
    assert "auth.registry_tokens" in made.stderr  # these settings of the command line do not have it on

    (listed,) = json.loads(run(tmp_path, "list", "--json").stdout)
    assert shown == {**listed, "token": shown["token"]}
    assert listed["caller"] == caller_id("ci")
    text = run(tmp_path, "list").stdout
    assert shown["token"] not in text
    assert listed["token_id"] in text
    database = (tmp_path / "registry.db").read_bytes() + (tmp_path / "registry.db-wal").read_bytes()
    assert shown["token"].encode() not in database
    assert digest(shown["token"]).encode() in database

    assert run(tmp_path, "revoke", "ci").stdout == f"revoked {listed['token_id']}\n"
    with pytest.raises(CorpusError):
        make_authenticator(settings, registry).authenticate(shown["token"])
    assert run(tmp_path, "list").stdout == "no tokens\n"
    assert run(tmp_path, "revoke", listed["token_id"]).exit_code == 5


def test_without_json_standard_output_is_the_token_alone(tmp_path: Path, registry: Registry) -> None:
    made = run(tmp_path, "create", "--name", "ci", "--role", "handbook=read")
    assert is_ours(made.stdout.strip())
    assert "for ever" in run(tmp_path, "list").stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--role", "handbook=owner"], "read, write or admin"),
        (["--role", "handbook"], "PROJECT=read"),
        (["--role", "handbook=read", "--role", "handbook=write"], "each project once"),
        (["--role", "hand book=read"], "slug"),
        (["--role", "handbok=read"], "there is no project"),
        (["--role", "handbook=read", "--principal", "a\nb"], "printable"),
    ],
)
def test_what_would_make_a_useless_token(tmp_path: Path, registry: Registry, options: list[str], says: str) -> None:
    done = run(tmp_path, "create", "--name", "ci", *options)
    assert isinstance(done.exception, InputError)
    assert says in done.exception.message
    assert registry.tokens() == []


def test_a_name_that_several_have_revokes_none(tmp_path: Path, registry: Registry) -> None:
    for _ in range(2):
        run(tmp_path, "create", "--name", "ci", "--role", "handbook=read")
    assert isinstance(run(tmp_path, "revoke", "ci").exception, InputError)
    assert len(registry.tokens()) == 2


def test_hashes_for_a_tokens_file(tmp_path: Path) -> None:
    given = "s" * 40
    assert run(tmp_path, "hash", stdin=given + "\n").stdout == digest(given) + "\n"
    new, sha256 = run(tmp_path, "hash", "--new").stdout.split()
    assert is_ours(new)
    assert digest(new) == sha256
    assert json.loads(run(tmp_path, "hash", "--json", stdin=given).stdout) == {"sha256": digest(given)}


@pytest.mark.parametrize("weak", ["", "hunter2", "s" * 31, "s" * 40 + " x", "s" * 40 + "\nx", "ß" * 40, "s" * 20_000])
def test_tokens_that_can_be_guessed_or_sent_by_nobody(tmp_path: Path, weak: str) -> None:
    done = run(tmp_path, "hash", stdin=weak)
    assert isinstance(done.exception, InputError)
    assert not weak or weak not in done.output
