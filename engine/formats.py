"""The table of formats that are read here: format id → extractor.

A format is told by its bytes where `engine.detect` knows how; one that stands only in this table (or among the user's
own) is told by its name: files of the format `tide` end in `.tide`.
"""

from __future__ import annotations

# format id → module:function, imported at first use. Families share a module.
EXTRACTORS: dict[str, str] = {
    "pdf": "engine.extract.pdf:extract",
    "docx": "engine.extract.docx:extract",
    "doc": "engine.extract.legacy:extract",
    "pptx": "engine.extract.pptx:extract",
    "ppt": "engine.extract.legacy:extract",
    "xlsx": "engine.extract.sheet:extract",
    "xls": "engine.extract.sheet:extract",
    "xlsb": "engine.extract.sheet:extract",
    "ods": "engine.extract.sheet:extract",
    "csv": "engine.extract.delimited:extract",
    "tsv": "engine.extract.delimited:extract",
    "html": "engine.extract.html:extract",
    "md": "engine.extract.markdown:extract",
    "rst": "engine.extract.rst:extract",
    "org": "engine.extract.org:extract",
    "txt": "engine.extract.text:extract",
    "png": "engine.extract.image:extract",
    "jpg": "engine.extract.image:extract",
    "tiff": "engine.extract.image:extract",
    "bmp": "engine.extract.image:extract",
    "webp": "engine.extract.image:extract",
    "gif": "engine.extract.image:extract",
    "heic": "engine.extract.image:extract",
    "code": "engine.extract.code:extract",
    "eml": "engine.extract.mail:extract",
    "mbox": "engine.extract.mail:extract_mbox",
    "msg": "engine.extract.outlook:extract",
    "rtf": "engine.extract.rtf:extract",
    "odt": "engine.extract.odf:extract",
    "odp": "engine.extract.odf:extract",
    "epub": "engine.extract.epub:extract",
    "ipynb": "engine.extract.notebook:extract",
    "json": "engine.extract.data:extract_json",
    "jsonl": "engine.extract.data:extract_jsonl",
    "xml": "engine.extract.data:extract_xml",
    "zip": "engine.extract.archive:extract",
}
EXTRACTOR_GROUP = "corpus.extractors"  # of entry points: format id → module:function
