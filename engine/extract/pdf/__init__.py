"""PDF: text in reading order with headings, lists, tables and pictures; scanned pages by OCR.

A page's way: `read` (PyMuPDF → page `model`, the only coordinates later steps see; `textpage` joins parted lines,
`spacing` repairs letters, `graphics` adds drawn lines and images, `annotations` form fields and comments) →
`furniture` (running headers off) → `tables` (drawn: `rules`, `grid`; by position: `rows`, `aligned`, `evidence`)
→ `blocks` (reading order, `lines`, `paragraphs`) → `headings` (and `heading_chance`) → `assemble` (into the tree,
with `pictures`). Between the last two, `router` weighs the `confidence` in that layout, and sends the page to the
`layout_model` where that is worth its cost: then `guided` and `rejoined` let its regions speak in a second layout.
`document` drives it; `scan` decides about OCR; `profile` holds what is common to the document; `properties` reads
bookmarks, `attachments` embedded files; `mupdf` is the only module that imports PyMuPDF.
"""

from engine.extract.pdf.document import extract, extract_pages, page_count

__all__ = ["extract", "extract_pages", "page_count"]
