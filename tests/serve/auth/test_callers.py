"""Roles by slug, id and `*`; what a role too low and no role at all answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Code, CorpusError, InputError
from engine.registry.queries import Registry, open_registry
from engine.settings import load
from serve.auth import ALL, make_caller, project_of, require, resolve_roles, role_in, seen_projects

OTHER = "0b7c9a52-8f5c-4b39-9f0c-1a6c1b7f9d10"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return open_registry(load({"home": str(tmp_path)}, environ={}))


def test_a_slug_stands_for_the_id_the_registry_gives_it(registry: Registry) -> None:
    project = registry.project("hand-book", create=True)
    assert project_of("hand-book") == project_of(project.id.upper()) == project.id
    assert project_of(ALL) == ALL


@pytest.mark.parametrize("ref", ["", "Hand Book", "../x", "a" * 64, "**"])
def test_what_names_no_project_is_refused_without_repeating_it(ref: str) -> None:
    with pytest.raises(ValueError, match="slug, its id") as caught:
        resolve_roles({ref: "read"})
    assert not ref or ref not in str(caught.value)


def test_the_stronger_of_several_roles_counts() -> None:
    project = project_of("a")
    caller = make_caller("ada", {"a": "read", project: "write", "*": "read", "b": "admin"}, [])
    assert role_in(caller, project) == "write"
    assert role_in(caller, project_of("b")) == "admin"
    assert role_in(caller, OTHER) == "read"
    everywhere = make_caller("bob", {"a": "read", "*": "admin"}, [])
    assert role_in(everywhere, project) == "admin"


def test_without_any_role_a_project_does_not_exist() -> None:
    caller = make_caller("ada", {"a": "write"}, [])
    require(caller, project_of("a"), "write")
    with pytest.raises(CorpusError) as low:
        require(caller, project_of("a"), "admin")
    assert low.value.code is Code.FORBIDDEN
    with pytest.raises(CorpusError) as none:
        require(caller, OTHER, "read")
    assert (none.value.code, OTHER in none.value.message) == (Code.PROJECT_NOT_FOUND, False)
    absent = InputError("there is no such document", Code.DOCUMENT_NOT_FOUND)
    with pytest.raises(CorpusError) as given:
        require(caller, OTHER, "read", absent)
    assert given.value is absent
    assert seen_projects(caller, [OTHER, project_of("a")]) == [project_of("a")]


def test_principals_are_the_subject_and_its_groups_and_no_bound_only_for_admins_of_all() -> None:
    assert make_caller("ada", {"a": "admin"}, ["staff", "ada", "staff"]).principals == ["ada", "staff"]
    assert make_caller("ada", {"*": "write"}, ["staff"]).principals == ["ada", "staff"]
    assert make_caller("root", {"*": "admin"}, ["staff"]).principals is None


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 257, "\x1b[31m"])
def test_names_that_would_spoil_logs_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        make_caller(name, {}, [])
    with pytest.raises(ValueError, match="printable"):
        make_caller("ada", {}, [name])


def test_unknown_roles_are_refused() -> None:
    with pytest.raises(ValueError, match="read, write or admin"):
        make_caller("ada", {"a": "owner"}, [])
