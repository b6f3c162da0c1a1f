"""Settings: precedence, the standard's names, unknown keys, secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.settings import STANDARD_NAMES, Settings, load


def test_flags_beat_environment_beats_file_beats_defaults(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("chunking: {max_tokens: 100, overlap_tokens: 10}\nlimits: {pages: 5}\n")
    env = {"CORPUS_CONFIG": str(file), "DEFAULT_MAX_TOKENS": "200", "CORPUS_CHUNKING__OVERLAP_TOKENS": "20"}
    settings = load({"chunking.max_tokens": 300, "limits.pages": None}, environ=env)
    assert (settings.chunking.max_tokens, settings.chunking.overlap_tokens, settings.limits.pages) == (300, 20, 5)
    assert settings.chunking.strategy == "auto"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"CORPUS_LIMITS__FILE_MBB": "1"}, "limits.file_mbb"),
        ({"CORPUS_NOSUCH": "1"}, "nosuch"),
        ({"MAX_FILE_SIZE_MB": "many"}, "limits.file_mb"),
        ({"CORPUS_CONFIG": "/nowhere.yaml"}, "cannot read settings file"),
    ],
)
def test_what_is_unknown_or_wrong_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(environ=environ)


def test_every_standard_name_reaches_a_setting() -> None:
    samples = {"OCR_ENABLED": "false", "OCR_CONFIDENCE_THRESHOLD": "0.5", "PII_REDACTION_ENABLED": "true",
               "SANITIZE_MACROS": "false"}  # fmt: skip
    for name, dotted in STANDARD_NAMES.items():
        value = samples.get(name, "77")
        found: object = load(environ={name: value})
        for part in dotted.split("."):
            found = getattr(found, part)
        shown = found.get_secret_value() if hasattr(found, "get_secret_value") else found
        assert str(shown).lower() == value


def test_lists_come_from_the_environment_as_yaml() -> None:
    assert load(environ={"CORPUS_SECURITY__PII_ENTITIES": "[EMAIL, PHONE]"}).security.pii_entities == ["EMAIL", "PHONE"]


def test_secrets_do_not_show() -> None:
    settings = load(environ={"LLM_GATEWAY_API_KEY": "sk-very-secret", "S3_SECRET_KEY": "hush"})
    assert "sk-very-secret" not in repr(settings) + settings.model_dump_json()
    assert "hush" not in repr(settings) + settings.model_dump_json()


def test_a_child_gets_passwords_and_no_keys() -> None:
    from engine.prepare import child_settings

    settings = load({"password": ["opensesame"]}, environ={"LLM_GATEWAY_API_KEY": "sk-1", "S3_SECRET_KEY": "hush",
                    "DATABASE_URL": "postgresql://u:pw@h/d"})  # fmt: skip
    encoded = child_settings(settings)
    assert not any(secret in encoded for secret in ("sk-1", "hush", "pw@"))
    assert Settings.model_validate_json(encoded).password[0].get_secret_value() == "opensesame"
