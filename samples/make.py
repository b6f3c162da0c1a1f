"""Writes the sample documents into `samples/documents` and `samples/bad`: `python -m samples.make`.

The same code gives the same bytes, except for the legacy Word file, which LibreOffice stamps; it is written only
where it is missing.
"""

from __future__ import annotations

from pathlib import Path

from samples import office, paper, papers, plain

HERE = Path(__file__).parent


def make(documents: Path, bad: Path) -> None:
    """Write all samples; existing ones are replaced."""
    documents.mkdir(parents=True, exist_ok=True)
    bad.mkdir(parents=True, exist_ok=True)
    paper.guide(documents / "visitor-guide.pdf")
    paper.bulletin(documents / "tide-bulletin.pdf")
    paper.scan(documents / "keepers-log-1911.pdf")
    paper.pictures(documents)
    office.statutes(documents / "statutes.docx")
    office.season(documents / "season-2024.pptx")
    office.accounts(documents / "accounts-2024.xlsx")
    office.writing(documents / "recipes.odt", papers.RECIPES_TITLE, papers.RECIPES)
    office.stock(documents / "shop-stock.ods")
    office.fair(documents / "harbour-fair.odp")
    office.deed(documents / "deed-of-gift.rtf")
    office.letter(documents / "winter-berths.doc")
    plain.texts(documents)
    plain.mail(documents)
    plain.book(documents / "tales.epub")
    plain.archive(documents / "odds-and-ends.zip")
    paper.encrypted(bad / "encrypted.pdf")
    whole = (documents / "statutes.docx").read_bytes()
    (bad / "truncated.docx").write_bytes(whole[: len(whole) // 2])


if __name__ == "__main__":
    make(HERE / "documents", HERE / "bad")
