"""The error tree: one base class, one code per kind of failure.

CorpusError
├── InputError        the document or request is at fault: unsupported, encrypted, too large, broken
├── SourceError       the bytes could not be had: vanished, no permission, wrong credentials
├── EmbeddingError    an embedder or gateway gave no usable vectors
├── ConfigError       settings, models or machines do not fit together; found before work starts
└── StorageError      registry or vector store refused or contradicted itself
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Code(StrEnum):
    """Stable failure codes, stored on document records and shown in reports."""

    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    BATCH_TOO_LARGE = "BATCH_TOO_LARGE"
    INVALID_REQUEST = "INVALID_REQUEST"
    EXTRACTION_FAILED = "EXTRACTION_FAILED"
    OCR_FAILED = "OCR_FAILED"
    ENCRYPTED_DOCUMENT = "ENCRYPTED_DOCUMENT"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    EXTRACTION_TIMEOUT = "EXTRACTION_TIMEOUT"
    EMBEDDING_FAILED = "EMBEDDING_FAILED"
    DOCUMENT_NOT_FOUND = "DOCUMENT_NOT_FOUND"
    PROJECT_NOT_FOUND = "PROJECT_NOT_FOUND"
    JOB_NOT_FOUND = "JOB_NOT_FOUND"
    CONFLICT = "CONFLICT"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"  # object vanished, unreadable, or its credentials are wrong
    WORKER_LOST = "WORKER_LOST"  # the whole worker died repeatedly with this document on it
    MISSING_DEPENDENCY = "MISSING_DEPENDENCY"  # a program or package this format needs is not installed
    CONFIGURATION = "CONFIGURATION"
    STORAGE_FAILED = "STORAGE_FAILED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    OVERLOADED = "OVERLOADED"
    INTERNAL = "INTERNAL"


class Stage(StrEnum):
    """Where in a document's way something happened."""

    LIST = "list"
    FETCH = "fetch"
    DETECT = "detect"
    SANITIZE = "sanitize"
    EXTRACT = "extract"
    OCR = "ocr"
    VISION = "vision"
    REDACT = "redact"
    CHUNK = "chunk"
    EMBED = "embed"
    PUBLISH = "publish"


class CorpusError(Exception):
    """Base of every error this project raises on purpose.

    `message` is one plain sentence for a person; `details` holds small JSON values only and never
    document text.
    """

    default_code = Code.INTERNAL

    def __init__(
        self,
        message: str,
        code: Code | None = None,
        stage: Stage | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.stage = stage
        self.details = dict(details or {})

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.code, self.stage, self.details))


class InputError(CorpusError):
    """This document (or request) cannot be processed, however often it is tried unchanged."""

    default_code = Code.EXTRACTION_FAILED


class SourceError(CorpusError):
    """The bytes of a document could not be read from their source."""

    default_code = Code.SOURCE_UNAVAILABLE


class EmbeddingError(CorpusError):
    """An embedder returned no usable vectors."""

    default_code = Code.EMBEDDING_FAILED


class ConfigError(CorpusError):
    """Settings, models or machines do not fit together."""

    default_code = Code.CONFIGURATION


class StorageError(CorpusError):
    """The registry or the vector store failed."""

    default_code = Code.STORAGE_FAILED
