"""Tokens of the registry: accepted, remembered briefly, refused soon after they are revoked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import Code, CorpusError, StorageError
from engine.registry.online import Token
from engine.registry.queries import Registry, open_registry
from engine.settings import Settings, load
from serve.auth import digest, make_authenticator, new_token
from serve.auth.registry_tokens import KEPT_SECONDS, MOST_KEPT, RegistryTokens


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return open_registry(load({"home": str(tmp_path)}, environ={}))


class Asked:
    """The real registry, counting its questions; or one that is down."""

    def __init__(self, registry: Registry | None) -> None:
        self.registry = registry
        self.questions = 0

    def token(self, sha256: str) -> Token | None:
        self.questions += 1
        if self.registry is None:
            raise StorageError("the registry is down")
        return self.registry.token(sha256)


def test_a_token_of_the_registry_is_its_caller(registry: Registry, settings_with: Callable[..., Settings]) -> None:
    project, token = registry.project("handbook", create=True), new_token()
    registry.add_token("ci", {project.id: "write"}, ["builders"], digest(token))
    caller = make_authenticator(settings_with(registry_tokens=True), registry).authenticate(token)
    assert (caller.subject, caller.roles, caller.principals) == ("ci", {project.id: "write"}, ["ci", "builders"])


def test_a_revoked_token_is_refused_within_five_seconds(registry: Registry) -> None:
    now, token = [100.0], new_token()
    made = registry.add_token("ci", {"*": "read"}, [], digest(token))
    tokens = RegistryTokens(registry, lambda: now[0])
    assert tokens.find(digest(token)) is not None
    registry.revoke_token(made.token_id)
    assert KEPT_SECONDS < 5
    now[0] += KEPT_SECONDS
    assert tokens.find(digest(token)) is None


def test_answers_good_and_bad_are_remembered_for_a_moment(registry: Registry) -> None:
    now, token, asked = [100.0], new_token(), Asked(registry)
    tokens = RegistryTokens(asked, lambda: now[0])
    for _ in range(5):
        assert tokens.find(digest(token)) is None
    assert asked.questions == 1
    registry.add_token("ci", {"*": "read"}, [], digest(token))
    now[0] += KEPT_SECONDS
    for _ in range(5):
        assert tokens.find(digest(token)) is not None
    assert asked.questions == 2


def test_a_token_expires_even_while_its_answer_is_remembered(registry: Registry) -> None:
    token = new_token()
    registry.add_token("ci", {"*": "read"}, [], digest(token), datetime.now(UTC) + timedelta(milliseconds=200))
    tokens = RegistryTokens(Asked(registry), lambda: 0.0)  # a clock that stands: the answer stays remembered
    assert tokens.find(digest(token)) is not None
    ends = datetime.now(UTC) + timedelta(milliseconds=250)
    while datetime.now(UTC) < ends:
        pass
    assert tokens.find(digest(token)) is None


def test_memory_is_bounded_against_ever_new_tokens() -> None:
    class Nobody:
        def token(self, sha256: str) -> None:
            return None

    tokens = RegistryTokens(Nobody())
    for number in range(MOST_KEPT + 500):
        tokens.find(f"{number:064x}")
    assert len(tokens._kept) == MOST_KEPT


def test_only_what_looks_like_our_token_reaches_the_registry(settings_with: Callable[..., Settings]) -> None:
    asked = Asked(None)
    authenticator = make_authenticator(settings_with(registry_tokens=True), asked)
    for token in ("guess", "corpus_short", "a.b.c", new_token() + "x", new_token()[:-1] + "!"):
        with pytest.raises(CorpusError) as caught:
            authenticator.authenticate(token)
        assert caught.value.code is Code.UNAUTHENTICATED
    assert asked.questions == 0
    with pytest.raises(StorageError):  # not "unknown token": the caller's token may be good
        authenticator.authenticate(new_token())


def test_broken_roles_in_the_registry_let_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def token(self, sha256: str) -> Token:
            return Token("id", "ci", {"not a project": "read"}, [], datetime.now(UTC), None)

    assert RegistryTokens(Broken()).find("0" * 64) is None
    assert "broken" in caplog.text
