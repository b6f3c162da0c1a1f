"""Redaction of whole documents: every text of the tree, every view, and an audit without values."""

from __future__ import annotations

import dataclasses

import pytest

from engine.chunk.make import make_chunks
from engine.document import Builder
from engine.embed.make import model_limits
from engine.errors import ConfigError
from engine.records import ChunkConfig, ExtractedDocument, ExtractedImage, Redaction
from engine.redact import redact
from engine.schema import DOCUMENT
from engine.settings import Security, Settings
from engine.tables import table_from_rows

SETTINGS = Settings()
SECRETS = [
    "John Smith",
    "jane.roe@example.org",
    "219-09-9999",
    "4111 1111 1111 1111",
    "(212) 555-0147",
    "1600 Pennsylvania Avenue",
    "03/14/1975",
    "C01X00T47",
    "D123-4567-8901",
    "Miller Trading Ltd",
]


def document() -> ExtractedDocument:
    builder = Builder("docx", SETTINGS.limits)
    builder.metadata.title = "File of John Smith"
    builder.metadata.author = "jsmith"
    builder.metadata.extra = {"company": "Miller Trading Ltd", "last_modified_by": "jroe", "subject": "pumps"}
    builder.start_page(1, 600, 800)
    builder.heading(1, "Interview with John Smith")
    builder.paragraph("John Smith of Miller Trading Ltd wrote from jane.roe@example.org. SSN: 219-09-9999.")
    builder.paragraph("He paid with 4111 1111 1111 1111, phone (212) 555-0147.", method="ocr")
    builder.list_block([(1, "-", "1600 Pennsylvania Avenue"), (1, "-", "Date of birth: 03/14/1975")])
    builder.table(
        table_from_rows(
            [["Customer name", "Passport", "Amount"], ["Xu Wei", "C01X00T47", "12"]], caption="Paid by John Smith"
        )
    )
    builder.paragraph("Driver's license D123-4567-8901", type="page_header")
    builder.paragraph("Seen by John Smith", type="comment")
    image = ExtractedImage(b"\x89PNG", "image/png", caption="Portrait of John Smith", alt_text="jane.roe@example.org")
    builder.image(image)
    builder.warn("sheet_skipped", "sheet of jane.roe@example.org", "sheet of 219-09-9999")
    return builder.finish()


def test_nothing_remains_in_any_view() -> None:
    doc = document()
    redact(doc, SETTINGS)
    stored = DOCUMENT.dump_json(doc).decode()
    for secret in [*SECRETS, "jsmith", "jroe", "Xu Wei"]:
        assert secret not in stored, secret
    assert "pumps" in stored
    chunks = make_chunks(doc, "d", ChunkConfig(), model_limits(SETTINGS), SETTINGS)
    assert all(secret not in c.content + c.lexical_prefix for c in chunks for secret in SECRETS)


def test_placeholders_say_what_was_there() -> None:
    doc = document()
    redact(doc, SETTINGS)
    assert doc.spans[0].section_path == ["Interview with [NAME_REDACTED]"]
    assert "from [EMAIL_REDACTED]. SSN: [SSN_REDACTED]." in doc.content
    assert "[CREDIT_CARD_REDACTED], phone [PHONE_REDACTED]." in doc.content
    assert "- [ADDRESS_REDACTED]\n- Date of birth: [DATE_OF_BIRTH_REDACTED]" in doc.content
    assert "| [NAME_REDACTED] | [PASSPORT_REDACTED] | 12 |" in doc.content
    assert "[ORGANIZATION_REDACTED]" in doc.content
    assert doc.tables[0].rows == [["[NAME_REDACTED]", "[PASSPORT_REDACTED]", "12"]]
    assert doc.tables[0].headers == ["Customer name", "Passport", "Amount"]
    assert doc.metadata.author == "[NAME_REDACTED]"
    assert doc.pages[0].content.startswith("# Interview with [NAME_REDACTED]")


def test_the_audit_holds_kind_and_position_only() -> None:
    doc = document()
    records = redact(doc, SETTINGS)
    assert {f.name for f in dataclasses.fields(Redaction)} == {"type", "position", "place"}
    for record in records:
        if record.place == "content":
            assert doc.content[record.position :].startswith(f"[{record.type}_REDACTED]")
    assert {r.type for r in records} >= {"NAME", "EMAIL", "SSN", "CREDIT_CARD", "PHONE", "ADDRESS", "DATE_OF_BIRTH"}
    assert Redaction("DRIVERS_LICENSE", 17, "page_header") in records
    assert Redaction("NAME", 8, "metadata.title") in records
    assert Redaction("EMAIL", 0, "image alt text") in records


def test_pictures_are_dropped_with_a_warning() -> None:
    doc = document()
    redact(doc, SETTINGS)
    assert doc.images[0].data == b""
    assert [(w.code, w.count) for w in doc.warnings if w.code == "image_dropped"] == [("image_dropped", 1)]


def test_kinds_can_be_chosen() -> None:
    doc = document()
    redact(doc, Settings(security=Security(pii_entities=["email", "SSN"])))
    assert "John Smith" in doc.content
    assert "[EMAIL_REDACTED]" in doc.content
    assert "[SSN_REDACTED]" in doc.content
    with pytest.raises(ConfigError, match="FINGERPRINTS"):
        redact(doc, Settings(security=Security(pii_entities=["FINGERPRINTS"])))


def test_a_name_found_once_goes_everywhere() -> None:
    builder = Builder("txt", SETTINGS.limits)
    builder.paragraph("The report was written by Angela Thornton in London.")
    builder.paragraph("total;Angela Thornton;17;x9")
    doc = builder.finish()
    redact(doc, SETTINGS)
    assert "Thornton" not in doc.content


def test_code_keeps_its_identifiers_but_not_its_secrets() -> None:
    builder = Builder("code", SETTINGS.limits)
    builder.code('class JohnSmith(Base):\n    mail = "jane.roe@example.org"', "python")
    doc = builder.finish()
    redact(doc, SETTINGS)
    assert "class JohnSmith(Base)" in doc.content
    assert "[EMAIL_REDACTED]" in doc.content


def test_a_clean_document_stays_as_it_is() -> None:
    builder = Builder("md", SETTINGS.limits)
    builder.heading(1, "pump maintenance")
    builder.paragraph("the pump is greased every 30 days; see section 4.2 and figure 3.")
    doc = builder.finish()
    before = doc.content
    assert redact(doc, SETTINGS) == []
    assert doc.content == before
    assert doc.warnings == []


def test_other_languages_are_named_as_less_sure() -> None:
    builder = Builder("md", SETTINGS.limits)
    builder.metadata.language = "de"
    builder.paragraph("Geboren am 14.03.1975, Musterstraße 12, 12345 Berlin")
    doc = builder.finish()
    redact(doc, SETTINGS)
    assert doc.content == "Geboren am [DATE_OF_BIRTH_REDACTED], [ADDRESS_REDACTED]"
    assert [w.code for w in doc.warnings] == ["redaction_language"]


def test_product_names_are_no_people() -> None:
    builder = Builder("xlsx", SETTINGS.limits)
    builder.table(table_from_rows([["Product name", "Name"], ["Hydraulic Pump", "Gasket"], ["Steel Bolt", "Washer"]]))
    builder.paragraph("Product name: Hydraulic pump")
    doc = builder.finish()
    redact(doc, Settings(security=Security(pii_entities=["NAME", "SSN"])))
    assert "REDACTED" not in doc.content
