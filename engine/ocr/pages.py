"""Loss codes of pages that are read by OCR."""

from __future__ import annotations

# These say: this page or picture shows something, and no text came of it.
UNAVAILABLE = "ocr_unavailable"
FAILED = "ocr_failed"
NOTHING_READ = "ocr_nothing_read"
NOT_RENDERED = "page_not_rendered"
LOW_CONFIDENCE = "page_ocr_low_confidence"
UNREAD = frozenset({UNAVAILABLE, FAILED, NOTHING_READ, NOT_RENDERED})
