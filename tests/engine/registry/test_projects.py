"""Projects, sources, counters and named values."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.errors import Code, ConfigError, CorpusError, InputError
from engine.registry.queries import Registry


def test_a_project_is_made_once_and_found_by_slug_and_id(registry: Registry) -> None:
    made = registry.project("demo", create=True, settings={"chunking": {"max_tokens": 200}})
    assert made.slug == "demo"
    assert made.settings == {"chunking": {"max_tokens": 200}}
    assert made.created_at.utcoffset() is not None
    assert registry.project(made.id) == made
    assert registry.project(made.id.upper()) == made
    again = registry.project("demo", create=True, settings={"other": 1})
    assert again == made, "a project keeps the settings it was made with"
    assert registry.project("another", create=True).id != made.id
    assert [p.slug for p in registry.projects()] == ["another", "demo"]


def test_a_slug_has_the_same_id_in_every_registry(registry: Registry) -> None:
    assert registry.project("demo", create=True).id == "b5a832c0-6013-532b-b63b-ca27d84051e1"


@pytest.mark.parametrize("ref", ["nothing", "6f0a1b57-3d0c-5a86-9a57-0d6f5b7c2e11", "Not A Slug\0"])
def test_an_absent_project_says_so(registry: Registry, ref: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.project(ref)
    assert caught.value.code == Code.PROJECT_NOT_FOUND


@pytest.mark.parametrize("slug", ["", "Upper", "-a", "a-", "a b", "ä", "a" * 64, "a/b", "a.b"])
def test_slugs_that_break_the_rules_are_refused(registry: Registry, slug: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.project(slug, create=True)
    assert caught.value.code == Code.INVALID_REQUEST
    assert registry.projects() == []


@pytest.mark.parametrize("slug", ["a", "7", "a-b_c", "a" * 63])
def test_slugs_that_keep_the_rules_are_taken(registry: Registry, slug: str) -> None:
    assert registry.project(slug, create=True).slug == slug


def test_a_uuid_cannot_name_a_new_project(registry: Registry) -> None:
    with pytest.raises(InputError):
        registry.project("6f0a1b57-3d0c-5a86-9a57-0d6f5b7c2e11", create=True)


def test_project_settings_are_replaced(registry: Registry) -> None:
    made = registry.project("demo", create=True, settings={"a": 1})
    assert registry.update_project_settings(made.id, lambda kept: {"b": [1, 2]}).settings == {"b": [1, 2]}
    assert registry.project("demo").settings == {"b": [1, 2]}
    with pytest.raises(InputError):
        registry.update_project_settings("6f0a1b57-3d0c-5a86-9a57-0d6f5b7c2e11", dict)


def test_sources_are_named_and_readdressed(registry: Registry) -> None:
    project = registry.project("demo", create=True)
    registry.source(project.id, "mail", "file:///a")
    registry.source(project.id, "mail", "s3://b")
    registry.source(project.id, "drive", "file:///c")
    assert registry.sources(project.id) == {"drive": "file:///c", "mail": "s3://b"}
    assert registry.sources(registry.project("other", create=True).id) == {}


def test_a_source_needs_its_project(registry: Registry) -> None:
    with pytest.raises(InputError) as caught:
        registry.source("6f0a1b57-3d0c-5a86-9a57-0d6f5b7c2e11", "mail", "file:///a")
    assert caught.value.code == Code.PROJECT_NOT_FOUND


def test_settings_compare_and_set(registry: Registry) -> None:
    assert registry.setting("k") is None
    assert not registry.set_setting("k", 1, expected=0), "nothing stands there"
    assert registry.setting("k") is None
    assert registry.set_setting("k", {"v": [1]}, expected=None)
    assert not registry.set_setting("k", 2, expected=None)
    assert registry.set_setting("k", 3, expected={"v": [1]})
    assert registry.setting("k") == 3
    assert registry.set_setting("k", float("nan"))
    assert registry.setting("k") is None, "JSON has no NaN"


MINILM = {"model": "all-MiniLM-L6-v2", "dimensions": 384, "fingerprint": "f1", "max_tokens": 256}


def test_a_vector_belongs_to_one_model(registry: Registry) -> None:
    registry.register_model("minilm", MINILM)
    registry.register_model("minilm", {**MINILM, "note": "same model"})
    registry.register_model("e5", {"model": "e5", "dimensions": 384, "fingerprint": "f2"})
    with pytest.raises(ConfigError, match="fingerprint differ"):
        registry.register_model("minilm", {**MINILM, "fingerprint": "f3"})
    with pytest.raises(ConfigError, match="dimensions differ"):
        registry.register_model("minilm", {**MINILM, "dimensions": 768})
    assert list(registry.models()) == ["e5", "minilm"]
    assert registry.models()["minilm"] == MINILM


def _make_and_register(registry: Registry, number: int) -> tuple[str, str]:
    project = registry.project("raced", create=True, settings={"by": number})
    registry.source(project.id, "s", "file:///s")
    try:
        registry.register_model("v", {"model": f"m{number}", "dimensions": 3, "fingerprint": f"f{number}"})
    except ConfigError as error:
        return project.id, error.code
    except CorpusError as error:
        return project.id, repr(error)
    return project.id, "registered"


def test_racing_processes_agree_on_one_project_and_one_model(registry: Registry) -> None:
    with multiprocessing.get_context("fork").Pool(6) as pool:
        answers = pool.starmap(_make_and_register, [(registry, n) for n in range(6)], chunksize=1)
    assert len({id_ for id_, _ in answers}) == 1
    assert sorted(outcome for _, outcome in answers) == ["CONFIGURATION"] * 5 + ["registered"]
    assert registry.sources(answers[0][0]) == {"s": "file:///s"}


def test_two_who_change_settings_at_once_both_do(registry: Registry) -> None:
    made = registry.project("made", create=True)

    def slowly(settings: dict[str, object]) -> dict[str, object]:
        time.sleep(0.05)
        return settings

    def change(name: str) -> None:
        registry.update_project_settings(made.id, lambda kept: slowly({**kept, name: True}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, "abcd"))
    assert registry.project("made").settings == dict.fromkeys("abcd", True)


def test_a_new_project_is_made_once(registry: Registry) -> None:
    def make(number: int) -> str:
        try:
            return registry.add_project("made", {"by": number}).id
        except InputError as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(make, range(4)))[1:] == [Code.CONFLICT] * 3
    with pytest.raises(InputError) as caught:
        registry.add_project(registry.project("made").id, {})
    assert caught.value.code is Code.INVALID_REQUEST
