"""Server ← project ← request: what an upload is processed with, and what is refused."""

from __future__ import annotations

import pytest

from engine.errors import Code, InputError
from engine.fingerprint import pipeline_fingerprint
from engine.options import UploadOptions, effective_settings, upload_fingerprint, upload_options
from engine.settings import load

SETTINGS = load({"chunking.max_tokens": 400, "limits.pages": 1000}, environ={})


def test_nothing_given_leaves_the_servers_settings() -> None:
    assert effective_settings(SETTINGS, {}, {}) == SETTINGS


def test_a_request_wins_over_its_project_and_that_over_the_server() -> None:
    project = {
        "chunking": {"max_tokens": 300, "overlap_tokens": 20, "include_headings": False, "strategy": None},
        "ocr_enabled": False,
        "pii_redaction": True,
        "retention_days": 30,
    }
    made = effective_settings(SETTINGS, project, {})
    assert (made.chunking.max_tokens, made.chunking.overlap_tokens, made.chunking.strategy) == (300, 20, "auto")
    assert (made.ocr.enabled, made.ocr.confidence_threshold) == (False, 0.7)
    assert (made.security.pii_redaction, made.security.sanitize_macros) == (True, True)
    options = {"max_tokens": 200, "chunking_strategy": "fixed", "ocr_enabled": True, "ocr_threshold": 0.5}
    made = effective_settings(SETTINGS, project, options)
    assert (made.chunking.max_tokens, made.chunking.overlap_tokens) == (200, 20)
    assert (made.chunking.strategy, made.chunking.include_headings) == ("fixed", False)
    assert (made.ocr.enabled, made.ocr.confidence_threshold) == (True, 0.5)
    assert (SETTINGS.chunking.max_tokens, SETTINGS.security.pii_redaction) == (400, False), "the server's are untouched"


def test_a_project_can_lower_limits_and_never_raise_them() -> None:
    limits = {"pages": 10, "file_mb": 100_000, "parse_per_minute": 5, "document_seconds": None}
    made = effective_settings(SETTINGS, {"limits": limits}, {})
    assert (made.limits.pages, made.limits.file_mb) == (10, SETTINGS.limits.file_mb)
    assert effective_settings(SETTINGS, {"limits": {"pages": 5000}}, {}).limits.pages == 1000


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_tokens": 3}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"overlap_tokens": -1}, "overlap_tokens"),
        ({"chunking_strategy": "clever"}, "chunking_strategy"),
        ({"chunking_strategy": ""}, "chunking_strategy"),
        ({"ocr_threshold": 1.5}, "ocr_threshold"),
        ({"ocr_threshold": float("nan")}, "ocr_threshold"),
        ({"ocr_enabled": "perhaps"}, "ocr_enabled"),
        ({"language": "english"}, "language"),
        ({"acl": ["*"]}, "acl"),
        ({"acl": [" "]}, "acl"),
        ({"acl": ["a\x00"]}, "acl"),
        ({"acl": [" ann"]}, "acl"),
        ({"acl": ["x" * 256]}, "acl"),
        ({"acl": ["p"] * 1001}, "acl"),
        ({"acl": "ann"}, "acl"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_options_name_their_field(options: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        effective_settings(SETTINGS, {}, options)
    assert refusal.value.code == Code.INVALID_REQUEST
    assert refusal.value.details["fields"] == [field]


@pytest.mark.parametrize(
    "project",
    [{"chunking": {"max_tokens": 1}}, {"chunking": {"colour": 1}}, {"chunking": "small"}, {"pii_redaction": "yes"},
     {"limits": {"pages": 0}}, {"limits": 3}],
)  # fmt: skip
def test_bad_project_settings_are_refused(project: dict[str, object]) -> None:
    with pytest.raises(InputError) as refusal:
        effective_settings(SETTINGS, project, {})
    assert refusal.value.code == Code.INVALID_REQUEST


def test_principals_come_sorted_and_once_and_a_language_in_lower_case() -> None:
    made = upload_options({"acl": ["user:bo", "group:a", "user:bo"], "language": " DE "})
    assert (made.acl, made.language) == (["group:a", "user:bo"], "de")


def test_the_fingerprint_changes_with_whatever_changes_the_points() -> None:
    def of(options: dict[str, object], filename: str = "a.txt") -> str:
        chosen = UploadOptions.model_validate(options)
        return upload_fingerprint(effective_settings(SETTINGS, {}, options), "model", chosen, filename)

    different = [
        {},
        {"acl": ["a"]},
        {"acl": ["a", "b"]},
        {"language": "de"},
        {"max_tokens": 50},
        {"ocr_enabled": False},
    ]
    made = [of(options) for options in different]
    assert len({*made, of({}, "b.txt")}) == len(different) + 1
    assert of({"acl": ["b", "a", "a"]}) == of({"acl": ["a", "b"]})
    assert of({}) != pipeline_fingerprint(SETTINGS, "model")
