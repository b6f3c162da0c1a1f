"""PDF: text in reading order with headings, lists, tables and pictures; scanned pages by OCR.

A page's way: `read` (PyMuPDF → page model, the only coordinates later steps see) → `furniture` (running
headers) → `tables` (`grid` drawn, `aligned` by position) → `blocks` (reading order, lines, paragraphs) →
`headings` → `assemble` (into the tree). `document` drives it; `scan` decides about OCR; `profile` holds what is
common to the document; `properties` reads bookmarks, `annotations` form fields and comments, `attachments`
embedded files.
"""

from engine.extract.pdf.document import extract, extract_pages, page_count

__all__ = ["extract", "extract_pages", "page_count"]
