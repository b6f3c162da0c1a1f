"""OpenDocument text (.odt) and presentations (.odp)."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.flow import emit, keep_furniture
from engine.extract.odf.flow import Reader, blocks
from engine.extract.odf.parts import OFFICE, open_content, read_meta
from engine.extract.odf.slides import master_texts, read_slides
from engine.extract.odf.styles import Counter, read_styles
from engine.records import ExtractedDocument
from engine.sanitize.package import Package


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a text document or presentation. Raises InputError as `Package` does, and ENCRYPTED_DOCUMENT."""
    builder = context.builder()
    with Package(path, context.settings.limits, builder.warn, "OpenDocument file") as package:
        content = open_content(package)
        style_sheet = package.optional_xml("styles.xml")
        styles = read_styles(style_sheet, content)
        children = Children(builder, context)
        reader = Reader(package, builder, children, styles, Counter(styles.outline))
        read_meta(package, builder)
        text = content.find(f"{OFFICE}body/{OFFICE}text")
        slides = content.find(f"{OFFICE}body/{OFFICE}presentation")
        try:
            if text is not None:
                emit(builder, blocks(reader, text))
                for kind, line in dict.fromkeys(master_texts(reader, style_sheet)):
                    builder.paragraph(line, kind)
            elif slides is not None:
                read_slides(reader, slides, style_sheet, context.settings.extraction.hidden == "drop")
            else:
                raise InputError("this OpenDocument file is neither text nor a presentation", stage=Stage.EXTRACT)
        except RecursionError as error:
            raise InputError("the document is nested too deeply", Code.LIMIT_EXCEEDED, Stage.EXTRACT) from error
        children.close()
    keep_furniture(builder, context.settings)
    return builder.finish()
