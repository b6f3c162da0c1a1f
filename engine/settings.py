"""Every setting of the product, in one model. The environment is read here and nowhere else.

Order of precedence, highest first: values given in code (command-line flags), environment variables,
the YAML file named by `CORPUS_CONFIG` (or `--config`), defaults. Unknown keys are errors.

Environment: `CORPUS_<GROUP>__<FIELD>` for every field (`CORPUS_LIMITS__DOCUMENT_SECONDS=60`), plus the
names of the document processing standard (`DATABASE_URL`, `DEFAULT_MAX_TOKENS`, ...), see `STANDARD_NAMES`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from engine.errors import ConfigError


class Group(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)


class Limits(Group):
    """Bounds on one document. None can be switched off; raise them where a corpus needs it."""

    file_mb: int = Field(100, ge=1, description="largest file taken, MiB")
    document_seconds: float = Field(300, gt=0, description="wall clock for one document's preparation")
    rss_mb: int = Field(4096, ge=256, description="resident memory of one isolated child and its tools, MiB")
    characters: int = Field(20_000_000, ge=1000, description="characters of extracted text")
    elements: int = Field(1_000_000, ge=100, description="structure elements of one document")
    pages: int = Field(20_000, ge=1)
    table_cells: int = Field(2_000_000, ge=100, description="cells over all tables of one document")
    image_pixels: int = Field(100_000_000, ge=10_000, description="pixels of one picture that is decoded")
    container_depth: int = Field(5, ge=0, description="attachments inside attachments")
    container_members: int = Field(1000, ge=1, description="documents out of one container, all depths")
    container_mb: int = Field(1024, ge=1, description="unpacked MiB out of one container, all depths")
    container_ratio: int = Field(200, ge=2, description="unpacked over packed bytes of one member")
    tool_seconds: float = Field(120, gt=0, description="one run of an outside program (LibreOffice, Tesseract)")
    recycle_documents: int = Field(500, ge=1, description="documents after which a child is replaced")
    recycle_rss_mb: int = Field(1500, ge=128, description="idle resident memory above which a child is replaced")


class Extraction(Group):
    """How documents are read. Every field changes text, so all are part of the fingerprint."""

    profile: Literal["fast", "balanced", "accurate"] = Field(
        "balanced",
        description="PDF pages: by geometry alone; with the layout model where geometry is unsure; on every page",
    )
    furniture: Literal["drop", "keep"] = Field(
        "drop", description="repeated page headers and footers: out of the text (kept as metadata), or in it"
    )
    hidden: Literal["keep", "drop"] = Field(
        "keep", description="hidden sheets, rows, columns and slides: kept and marked, or left out and reported"
    )
    image_min_pixels: int = Field(
        2500, ge=1, description="pictures of fewer pixels are taken for decoration and left out, unless referred to"
    )
    headings_by_model: bool = Field(
        False, description="ask the gateway's language model about headings that outline and numbering leave open"
    )
    headings_model: str = Field("", description="the gateway's model name for headings")


class Ocr(Group):
    enabled: bool = True
    confidence_threshold: float = Field(0.7, ge=0, le=1, description="below it a page goes to vision")
    min_characters: int = Field(50, ge=0, description="a page with fewer and something to see is read by OCR")
    languages: str = Field("", description="Tesseract languages, e.g. eng+deu; empty: by script and what is installed")
    dpi: int = Field(200, ge=72, le=600)
    vision: Literal["off", "local", "gateway"] = "local"
    vision_model: str = Field("rapidocr", description="local engine, or the gateway's model name")
    vision_to_gateway_with_pii: bool = Field(
        False, description="allow page pictures to leave although PII redaction is on"
    )


class Chunking(Group):
    strategy: str = "auto"
    max_tokens: int = Field(512, ge=16, le=100_000)
    overlap_tokens: int = Field(64, ge=0)
    respect_structure: bool = True
    include_headings: bool = True


class Embedding(Group):
    backend: Literal["local", "gateway"] = "local"
    model: str = Field(
        "all-MiniLM-L6-v2", description="bundled model, a path or id for sentence-transformers, or a gateway model"
    )
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int | None = Field(None, ge=8, description="the model's input limit; required for a gateway model")
    tokenizer: str | None = Field(None, description="tokenizer of a gateway model: a tiktoken encoding or a path/id")
    dimensions: int | None = Field(None, ge=1, description="expected size; required for a gateway model")
    device: str = "auto"
    batch_tokens: int = Field(4096, ge=64, description="padded tokens of one forward pass")
    threads: int | None = Field(None, ge=1)
    gateway_concurrency: int = Field(8, ge=1)
    gateway_batch: int = Field(100, ge=1, le=100)
    price_per_million_tokens: float = Field(0.0, ge=0)


class Gateway(Group):
    """Any OpenAI-compatible server, for embeddings and vision."""

    url: str = ""
    api_key: SecretStr = SecretStr("")
    timeout_seconds: float = Field(60, gt=0)
    attempts: int = Field(6, ge=1)


class Registry(Group):
    url: str = Field("", description="SQLAlchemy URL; empty: SQLite under `home`")


class Store(Group):
    """Where vectors live. `url` empty: the embedded engine under `home`."""

    url: str = Field("", description="Qdrant server, http(s)://host:6333")
    api_key: SecretStr = SecretStr("")
    grpc: bool = False
    collection: str = "corpus"
    batch_points: int = Field(64, ge=1, le=1024)
    optimize_above: int = Field(50_000, ge=0, description="embedded: points below which no index is built")


class Objects(Group):
    """An S3-compatible object store; also used for s3:// sources.

    `bucket`: uploads and what is kept of documents go there; empty: into `home`/objects.
    """

    endpoint: str = ""
    access_key: SecretStr = SecretStr("")
    secret_key: SecretStr = SecretStr("")
    bucket: str = ""
    prefix: str = Field("corpus/", description="of every key Corpus writes to the bucket")
    encryption: Literal["", "AES256", "aws:kms"] = Field("", description="server-side encryption asked for")
    region: str = "us-east-1"


class Security(Group):
    sanitize_macros: bool = True
    pii_redaction: bool = False
    pii_entities: list[str] = Field(default_factory=list)


class Pipeline(Group):
    workers: int | None = Field(None, ge=1, description="preparing workers; empty: from the cluster")
    layout: Literal["auto", "fused", "split"] = "auto"
    block_documents: int = Field(64, ge=1)
    shard_documents: int = Field(20_000, ge=1, description="manifest rows per Ray dataset")
    ray_address: str = Field("", description="empty: a local Ray; 'auto' or an address: that cluster")
    loss_retries: int = Field(8, ge=1, description="rounds of halving after a lost block")
    isolation: bool = Field(True, description="parse in a child process; off only for debugging")
    part_pages: int = Field(200, ge=10, description="a document with more pages is read in parts of this many")


class Serve(Group):
    """The online API."""

    host: str = Field("127.0.0.1", description="address to listen on; other than loopback only with `auth` configured")
    port: int = Field(8016, ge=0, le=65535, description="0: any free one")
    max_batch_size: int = Field(50, ge=1, description="files in one batch upload")
    batch_mb: int = Field(2048, ge=1, description="whole body of one batch upload, MiB")
    json_kb: int = Field(1024, ge=1, description="body of one JSON request, KiB")
    parse_per_minute: int = Field(100, ge=1, description="uploads per project")
    batch_per_minute: int = Field(10, ge=1, description="batch uploads per project")
    search_per_minute: int = Field(1000, ge=1, description="searches per project")
    chunks_per_minute: int = Field(500, ge=1, description="chunk pages per project")
    lease_seconds: float = Field(60, gt=0, description="without a sign of life for this long, work is taken up anew")
    attempts: int = Field(3, ge=1, description="workers that may die over one upload before it fails as WORKER_LOST")
    outage_hours: float = Field(
        24, ge=0, description="how long an upload waits for a store or a model that is away before it fails"
    )
    poll_seconds: float = Field(2, gt=0, description="how often an idle ingest worker looks for work")
    idempotency_hours: float = Field(24, gt=0, description="how long an Idempotency-Key is remembered")
    heartbeat_seconds: float = Field(15, gt=0, description="comment lines on an event stream")
    event_days: float = Field(7, gt=0, description="how long events and webhook deliveries are kept")
    request_seconds: float = Field(60, gt=0, description="one request, uploads and event streams excepted")
    max_ongoing: int = Field(64, ge=1, description="requests one API replica works on at once")
    max_queued: int = Field(256, ge=1, description="requests that wait beyond that; more answer 503 OVERLOADED")
    api_replicas: tuple[int, int] = Field((1, 4), description="least and most API replicas")
    embedder_replicas: tuple[int, int] = Field((1, 4), description="least and most query embedders")
    ingest_replicas: tuple[int, int] = Field((1, 4), description="least and most ingest workers")
    api_cpus: float = Field(0.2, ge=0)
    embedder_cpus: float = Field(0.5, ge=0)
    embedder_gpus: float = Field(0, ge=0)
    ingest_cpus: float = Field(0.5, ge=0)
    upscale_seconds: float = Field(5, ge=0, description="load that lasts this long adds replicas")
    downscale_seconds: float = Field(120, ge=0, description="idleness that lasts this long removes them")
    embed_batch: int = Field(32, ge=1, description="queries in one forward pass")
    embed_wait_ms: float = Field(2, ge=0, description="how long a query waits for others to share its pass")
    tls_certificate: Path | None = None
    tls_key: Path | None = None


class Auth(Group):
    """Who may call the API. Nothing set: everybody on this machine may do everything, and only this machine."""

    tokens_file: Path | None = Field(None, description="YAML of hashed tokens, see docs/operations.md")
    registry_tokens: bool = Field(False, description="accept tokens made by `corpus token create`")
    jwks_url: str = Field("", description="keys that sign accepted JWTs")
    jwt_key_file: Path | None = Field(None, description="PEM public key (or JWKS file) that signs accepted JWTs")
    jwt_issuer: str = ""
    jwt_audience: str = ""
    jwt_algorithms: list[str] = Field(default_factory=lambda: ["RS256", "ES256", "EdDSA"])
    jwt_roles_claim: str = Field("corpus_roles", description='claim: {"project slug or id, or *": "read|write|admin"}')
    jwt_principals_claim: str = Field("groups", description="claim: list of principals beside the subject")

    @property
    def configured(self) -> bool:
        return bool(self.tokens_file or self.registry_tokens or self.jwks_url or self.jwt_key_file)


class Webhooks(Group):
    attempts: int = Field(8, ge=1)
    timeout_seconds: float = Field(10, gt=0)
    backoff_seconds: float = Field(5, gt=0, description="before the second try; doubles, with jitter")
    allow_private: bool = Field(False, description="deliver to loopback, private and link-local addresses too")
    allow_http: bool = Field(False, description="deliver to http:// addresses too")


class Telemetry(Group):
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    otlp_endpoint: str = Field("", description="OTLP/HTTP collector, http(s)://host:4318; empty: no traces")


class Settings(Group):
    """The whole configuration; `load` builds it."""

    home: Path = Field(Path("~/.local/share/corpus"), description="state of the embedded mode: registry, vectors, runs")
    scratch: Path | None = Field(None, description="private temporary files; empty: under the system's temp folder")
    limits: Limits = Limits()  # pyright: ignore[reportCallIssue]
    extraction: Extraction = Extraction()  # pyright: ignore[reportCallIssue]
    ocr: Ocr = Ocr()  # pyright: ignore[reportCallIssue]
    chunking: Chunking = Chunking()  # pyright: ignore[reportCallIssue]
    embedding: Embedding = Embedding()  # pyright: ignore[reportCallIssue]
    gateway: Gateway = Gateway()  # pyright: ignore[reportCallIssue]
    registry: Registry = Registry()  # pyright: ignore[reportCallIssue]
    store: Store = Store()  # pyright: ignore[reportCallIssue]
    objects: Objects = Objects()  # pyright: ignore[reportCallIssue]
    security: Security = Security()  # pyright: ignore[reportCallIssue]
    pipeline: Pipeline = Pipeline()  # pyright: ignore[reportCallIssue]
    serve: Serve = Serve()  # pyright: ignore[reportCallIssue]
    auth: Auth = Auth()  # pyright: ignore[reportCallIssue]
    webhooks: Webhooks = Webhooks()  # pyright: ignore[reportCallIssue]
    telemetry: Telemetry = Telemetry()  # pyright: ignore[reportCallIssue]
    extractors: dict[str, str] = Field(default_factory=dict, description="format id → import path module:function")
    chunkers: dict[str, str] = Field(default_factory=dict, description="strategy name → import path module:function")
    formats: dict[str, list[str]] = Field(
        default_factory=dict, description="format id of your own → its file extensions, for your extractors"
    )
    password: list[SecretStr] = Field(default_factory=list, description="passwords tried on encrypted documents")


# The names of the document processing standard that still mean something here.
STANDARD_NAMES: Mapping[str, str] = {
    "DOCUMENT_API_PORT": "serve.port",
    "DOCUMENT_WORKERS": "pipeline.workers",
    "DATABASE_URL": "registry.url",
    "LLM_GATEWAY_URL": "gateway.url",
    "LLM_GATEWAY_API_KEY": "gateway.api_key",
    "EMBEDDING_MODEL": "embedding.model",
    "QDRANT_URL": "store.url",
    "QDRANT_API_KEY": "store.api_key",
    "S3_ENDPOINT": "objects.endpoint",
    "S3_ACCESS_KEY": "objects.access_key",
    "S3_SECRET_KEY": "objects.secret_key",
    "S3_BUCKET": "objects.bucket",
    "OCR_ENABLED": "ocr.enabled",
    "OCR_CONFIDENCE_THRESHOLD": "ocr.confidence_threshold",
    "VISION_MODEL": "ocr.vision_model",
    "DEFAULT_CHUNK_STRATEGY": "chunking.strategy",
    "DEFAULT_MAX_TOKENS": "chunking.max_tokens",
    "DEFAULT_OVERLAP_TOKENS": "chunking.overlap_tokens",
    "MAX_FILE_SIZE_MB": "limits.file_mb",
    "MAX_BATCH_SIZE": "serve.max_batch_size",
    "PII_REDACTION_ENABLED": "security.pii_redaction",
    "SANITIZE_MACROS": "security.sanitize_macros",
}
PREFIX = "CORPUS_"
# Read elsewhere on purpose, so not settings: where the file is, and where its state lives.
RESERVED = {"CORPUS_CONFIG", "CORPUS_HOME"}

Tree = dict[str, Any]


def load(
    overrides: Mapping[str, object] | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Build the effective settings. `overrides` maps dotted names to values (flags).

    Raises ConfigError naming every unknown or invalid key.
    """
    env = os.environ if environ is None else environ
    tree: Tree = {}
    file = config or (Path(env["CORPUS_CONFIG"]) if env.get("CORPUS_CONFIG") else None)
    if file is not None:
        _merge(tree, _read_yaml(file))
    _merge(tree, _from_environment(env))
    for name, value in (overrides or {}).items():
        if value is not None:
            _put(tree, name, value)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        lines = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()]
        raise ConfigError("invalid settings: " + "; ".join(lines)) from error
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})


def _read_yaml(file: Path) -> Tree:
    try:
        loaded = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read settings file {file}: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"settings file {file} must hold a mapping")
    return loaded  # pyright: ignore[reportUnknownVariableType]


def _from_environment(env: Mapping[str, str]) -> Tree:
    tree: Tree = {}
    for name, dotted in STANDARD_NAMES.items():
        if env.get(name):
            _put(tree, dotted, env[name])
    if env.get("CORPUS_HOME"):
        _put(tree, "home", env["CORPUS_HOME"])
    for name, value in sorted(env.items()):
        if name.startswith(PREFIX) and name not in RESERVED:
            _put(tree, name.removeprefix(PREFIX).lower().replace("__", "."), decoded(value))
    return tree


def decoded(value: str) -> object:
    """A setting as given in the environment or with --set: lists and mappings are YAML, all else stays text for
    pydantic."""
    if value[:1] not in ("[", "{"):
        return value
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"{value[:40]!r} is neither text nor YAML: {error}") from error


def _put(tree: Tree, dotted: str, value: object) -> None:
    *groups, leaf = dotted.split(".")
    for group in groups:
        inner = tree.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"setting {group!r} is a group and takes no value of its own")
        tree = inner
    tree[leaf] = value


def _merge(into: Tree, new: Tree) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            into[key] = value
