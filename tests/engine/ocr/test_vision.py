"""Vision readings in place of poor OCR, the local engine, and what an unread document ends as."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.document import Builder, derive
from engine.errors import Code, ConfigError, CorpusError, InputError
from engine.extract.scans import apply_vision
from engine.ocr import check_read, vision_engine
from engine.ocr.vision_local import LocalVision
from engine.records import ExtractedDocument, Loss, OcrLine, OcrResult, PendingPage, StructureElement
from engine.settings import Limits, Settings
from tests.engine.extract.pdf_files import text_picture


def waiting(tmp_path: Path, text: str, confidence: float) -> ExtractedDocument:
    """A document whose page 2 Tesseract read poorly."""
    builder = Builder("pdf", Limits.model_validate({}))
    builder.start_page(1, 600, 800)
    builder.heading(1, "Before")
    record = builder.start_page(2, 600, 800)
    record.ocr_confidence, record.ocr_engine = confidence, "tesseract:eng"
    element = StructureElement("ocr_page", None, "", page_number=2, method="ocr")
    if text:
        element.children = [StructureElement("paragraph", None, text, page_number=2, method="ocr")]
    builder.add(element)
    builder.warn("page_ocr_low_confidence" if text else "ocr_nothing_read", "poor", "page 2")
    text_picture("x", width=1200).save(tmp_path / "p2.png")
    builder.pending.append(PendingPage(2, str(tmp_path / "p2.png"), 600, 800, confidence))
    return builder.finish()


def reading(*texts: str, confidence: float = 0.95) -> OcrResult:
    lines = [OcrLine(t, confidence, 100, 100 * n, 700, 100 * n + 50, n) for n, t in enumerate(texts)]
    return OcrResult(lines, confidence, "rapidocr")


def test_a_better_reading_replaces_the_poor_one(tmp_path: Path) -> None:
    document = waiting(tmp_path, "Th3 qu~ck br0wn", 0.3)
    assert apply_vision(document, document.pending[0], reading("The quick brown fox", "jumps over the dog"))
    derive(document)
    assert document.content == "# Before\n\nThe quick brown fox jumps over the dog"
    assert document.pending == [] and document.warnings == []
    page = document.pages[1]
    assert (page.ocr_confidence, page.ocr_engine) == (0.95, "rapidocr")
    element = document.structure[0].children[0]
    assert element.method == "vision" and {c.method for c in element.children} == {"vision"}
    assert element.attributes["ocr_confidence"] == "0.30" and element.attributes["vision_confidence"] == "0.95"
    box = element.children[0].box
    assert box is not None and (box.x0, box.x1) == (50, 350)


def test_a_worse_reading_is_not_taken_but_recorded(tmp_path: Path) -> None:
    document = waiting(tmp_path, "The quick brown fox jumps over the lazy dog", 0.65)
    assert not apply_vision(document, document.pending[0], reading("T fox", confidence=0.9))
    derive(document)
    assert "lazy dog" in document.content and document.pending == []
    assert [w.code for w in document.warnings] == ["page_ocr_low_confidence"]
    assert document.structure[0].children[0].attributes["vision_confidence"] == "0.90"


def test_nothing_read_by_either_is_said_and_fails(tmp_path: Path) -> None:
    document = waiting(tmp_path, "", 0.0)
    document.structure = document.structure[0].children
    assert not apply_vision(document, document.pending[0], OcrResult([], 0.0, "rapidocr"))
    derive(document)
    assert [w.code for w in document.warnings] == ["ocr_nothing_read"]
    with pytest.raises(InputError) as error:
        check_read(document)
    assert error.value.code == Code.OCR_FAILED


def test_some_text_or_nothing_shown_is_no_failure(tmp_path: Path) -> None:
    document = waiting(tmp_path, "", 0.0)
    check_read(document)  # the heading was read
    empty = Builder("pdf", Limits.model_validate({})).finish()
    check_read(empty)
    empty.warnings.append(Loss("blank_page", "nothing"))
    check_read(empty)


def test_the_local_engine_reads_lines_with_places(tmp_path: Path) -> None:
    text_picture("Invoice number 2024-117", "Total amount 1,250.00 EUR").save(tmp_path / "a.png")
    result = LocalVision().read(tmp_path / "a.png")
    assert "".join(line.text for line in result.lines).replace(" ", "") == "Invoicenumber2024-117Totalamount1,250.00EUR"
    assert result.confidence > 0.9 and result.engine == "rapidocr"
    assert result.lines[0].x0 == pytest.approx(80, abs=25) and result.lines[1].y0 > result.lines[0].y1


def test_a_file_that_is_no_picture_is_an_error_of_that_page(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(CorpusError) as error:
        LocalVision().read(tmp_path / "a.png")
    assert error.value.code == Code.OCR_FAILED


def test_the_engine_follows_the_settings() -> None:
    assert vision_engine(Settings()).name == "rapidocr"
    gateway = {"ocr": {"vision": "gateway", "vision_model": "some-vlm"}, "gateway": {"url": "http://127.0.0.1:9"}}
    assert vision_engine(Settings.model_validate(gateway)).name == "gateway:some-vlm"
    for bad in (
        {"ocr": {"vision": "off"}},
        {"ocr": {"vision": "gateway", "vision_model": "m"}},
        {**gateway, "ocr": {"vision": "gateway"}},
        {**gateway, "security": {"pii_redaction": True}},
    ):
        with pytest.raises(ConfigError):
            vision_engine(Settings.model_validate(bad))
