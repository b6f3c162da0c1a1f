"""Documents that would stall or exhaust a run end as one failure each, and those beside them are read as usual.

The names P1 to P15 are the reports of users of other engines that each test was made from.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pymupdf
import pytest
from corpora import write_texts
from msoffcrypto.format.ooxml import OOXMLFile

from engine.errors import Code, InputError
from engine.extract.encrypted import is_ole
from engine.extract.libreoffice import convert
from engine.isolate import tree_rss
from engine.prepare import NoLedger, Preparer, Run
from engine.records import Prepared, SourceItem
from engine.settings import load
from engine.sources.local import local_uri
from tests.engine.extract.hostile_files import long_table_docx, path_pdf, repeating_xlsx, swollen_docx
from tests.engine.extract.office_files import context


def prepare(paths: list[Path], **settings: object) -> dict[str, Prepared]:
    """Every file through one preparer, in order; by file name."""
    overrides = {name.replace("__", "."): value for name, value in settings.items()}
    preparer = Preparer(load(overrides, environ={}), Run("r", "f"), NoLedger(), keep_documents=True)
    items = [SourceItem("p", "s", path.name, local_uri(bytes(path)), path.stat().st_size) for path in paths]
    try:
        return {p.filename: p for p in preparer.prepare(items)}
    finally:
        preparer.close()


def code_of(p: Prepared) -> str:
    return p.failure.code if p.failure else ""


@pytest.mark.slow
def test_three_million_path_operators_end_at_the_deadline(tmp_path: Path) -> None:
    """P1: a page that keeps the parser busy for minutes is killed from outside; its neighbours do not notice."""
    write_texts(tmp_path, 2)
    before, after = sorted(tmp_path.rglob("*.txt"))
    began = time.monotonic()
    found = prepare([before, path_pdf(tmp_path / "plan.pdf", 3_000_000), after], limits__document_seconds=20)
    assert time.monotonic() - began < 60
    plan = found["plan.pdf"]
    assert code_of(plan) == Code.EXTRACTION_TIMEOUT or "Harbour plan of 1911" in plan.chunks[0].content
    assert [found[p.name].failure for p in (before, after)] == [None, None]


@pytest.mark.slow
def test_native_code_that_never_ends_costs_its_deadline_alone(tmp_path: Path) -> None:
    """P2: a catastrophic regular expression, which holds the interpreter lock, as file 37 of 100."""
    write_texts(tmp_path, 99)
    files = sorted(tmp_path.rglob("*.txt"))
    poison = tmp_path / "stuck.poison"
    poison.write_text("loop\nnever read")
    own = {"extractors": {"poison": "poison_extractor:extract"}, "formats": {"poison": ["poison"]}}
    began = time.monotonic()
    found = prepare([*files[:36], poison, *files[36:]], limits__document_seconds=10, **own)
    seconds = time.monotonic() - began
    assert code_of(found.pop("stuck.poison")) == Code.EXTRACTION_TIMEOUT
    assert len(found) == 99 and all(p.chunks and p.failure is None for p in found.values())
    own_seconds = sorted(sum(p.seconds.values()) for p in found.values())
    assert own_seconds[96] < 1  # but for the first of either child, which loads what it needs
    assert seconds < 10 + 30


@pytest.mark.slow
def test_memory_does_not_climb_with_the_number_of_documents(tmp_path: Path) -> None:
    """P4: one 20-page PDF 300 times through one child that is never replaced; RSS over the last 200."""
    book = pymupdf.open()
    for number in range(20):
        lines = [f"Page {number + 1}, line {n}: the tide table of the harbour." for n in range(45)]
        page = book.new_page()
        page.insert_text((72, 60), f"Chapter {number + 1}", fontsize=20)
        page.insert_textbox((72, 80, 520, 800), "\n".join(lines), fontsize=10)
    book.save(tmp_path / "book.pdf")
    limits = {"limits.recycle_documents": 1000, "limits.recycle_rss_mb": 4000, "limits.rss_mb": 8000}
    preparer = Preparer(load(limits, environ={}), Run("r", "f"), NoLedger())
    item = SourceItem("p", "s", "book.pdf", local_uri(bytes(tmp_path / "book.pdf")), 1)
    resident: list[float] = []
    try:
        for _ in range(300):
            (p,) = preparer.prepare([item])
            assert p.failure is None and preparer._slot.pid is not None
            resident.append(tree_rss(preparer._slot.pid) / (1 << 20))
        assert preparer._slot.started == 1
    finally:
        preparer.close()
    assert slope(resident[100:]) < 0.2  # MiB a document


def slope(values: list[float]) -> float:
    """Least squares over the index."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    above = sum((n - middle) * (value - mean) for n, value in enumerate(values))
    return above / sum((n - middle) ** 2 for n in range(len(values)))


def test_text_that_swells_ends_at_a_limit_with_an_honest_reason(tmp_path: Path) -> None:
    """P5: shared strings repeated by reference (640 MB out of 5 kB) end at the bound on characters."""
    found = prepare([repeating_xlsx(tmp_path / "refs.xlsx", 1000)])
    assert code_of(found["refs.xlsx"]) == Code.LIMIT_EXCEEDED
    assert "limits.characters" in (found["refs.xlsx"].failure or pytest.fail()).message


@pytest.mark.parametrize(
    ("packing", "said"), [(6, "unpacks to 41"), pytest.param(1, "limits.characters", marks=pytest.mark.slow)]
)
def test_a_docx_of_one_megabyte_with_400_of_text_ends_at_a_limit(packing: int, said: str, tmp_path: Path) -> None:
    """P5: refused by its ratio before unpacking, or else while reading: the child never nears the size of the text."""
    path = swollen_docx(tmp_path / "swollen.docx", 400, packing)
    assert path.stat().st_size < 3 << 20
    found = prepare([path], limits__rss_mb=1500)
    assert code_of(found["swollen.docx"]) == Code.LIMIT_EXCEEDED
    assert said in (found["swollen.docx"].failure or pytest.fail()).message


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_a_conversion_that_hangs_dies_with_all_it_started(tmp_path: Path) -> None:
    """P7: a table of 20,000 rows keeps LibreOffice busy for minutes; the next document is converted as usual."""
    long, short = long_table_docx(tmp_path / "long.docx", 20_000), long_table_docx(tmp_path / "short.docx", 3)
    busy = context(tmp_path, "docx", tool_seconds=15)
    with pytest.raises(InputError, match=r"limits\.tool_seconds") as caught:
        convert(long, "docx", "docx", busy)
    assert caught.value.code is Code.EXTRACTION_TIMEOUT
    assert not programs_with(str(tmp_path))
    assert convert(short, "docx", "docx", context(tmp_path, "docx")).stat().st_size > 0
    assert not programs_with(str(tmp_path))


def programs_with(argument: str) -> list[str]:
    """Command lines of running programs that name `argument`."""
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_text("utf-8", "replace"))
        except OSError:  # ended meanwhile
            continue
    return [line for line in lines if argument in line and "soffice" in line]


# ---------------------------------------------------------------- passwords
SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "documents"
CIPHERS = {"rc4-40": 2, "rc4-128": 3, "aes-128": 4, "aes-256": 5}


def locked_pdf(path: Path, cipher: str, user: str, owner: str) -> Path:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "The combination of the harbour safe is written down nowhere.")
    document.save(path, encryption=CIPHERS[cipher], user_pw=user, owner_pw=owner)
    return path


def locked_office(path: Path, password: str) -> Path:
    with (SAMPLES / path.name).open("rb") as plain, path.open("wb") as out:
        OOXMLFile(plain).encrypt(password, out)
    assert is_ole(path)
    return path


def test_encrypted_documents_fail_as_such_or_open(tmp_path: Path) -> None:
    """P15: a user password is asked for, whatever the cipher; an owner's alone locks nobody out; never an empty
    success. An encrypted .docx is an OLE file, not a ZIP, and says so too."""
    user = [locked_pdf(tmp_path / f"user-{c}.pdf", c, "tide", "owner") for c in CIPHERS]
    free = [locked_pdf(tmp_path / f"owner-{c}.pdf", c, "", "owner") for c in CIPHERS]
    office = [locked_office(tmp_path / name, "tide") for name in ("statutes.docx", "accounts-2024.xlsx")]
    refused = prepare([*user, *free, *office], pipeline__isolation=False)
    opened = prepare([*user, *office], pipeline__isolation=False, password=["wrong", "tide"])
    for path in (*user, *office):
        p = refused[path.name]
        assert (code_of(p), p.skip_reason, p.chunks) == (Code.ENCRYPTED_DOCUMENT, "", []), path.name
        assert "password" in (p.failure or pytest.fail()).message
        assert opened[path.name].failure is None and opened[path.name].chunks, path.name
    for path in free:
        assert "harbour safe" in refused[path.name].chunks[0].content
    assert "6 May 1953" in "".join(c.content for c in opened["statutes.docx"].chunks)
