"""What file names say: extensions, MIME types and programming languages of the formats known here."""

from __future__ import annotations

from pathlib import PurePosixPath

from engine.formats import EXTRACTOR_GROUP, EXTRACTORS
from engine.plugins import announced
from engine.settings import Settings

# format id → extensions; the first is the usual one.
EXTENSIONS: dict[str, tuple[str, ...]] = {
    "pdf": (".pdf",),
    "docx": (".docx", ".docm", ".dotx", ".dotm"),
    "doc": (".doc", ".dot"),
    "pptx": (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    "ppt": (".ppt", ".pps", ".pot"),
    "xlsx": (".xlsx", ".xlsm", ".xltx", ".xltm"),
    "xls": (".xls", ".xlt"),
    "xlsb": (".xlsb",),
    "ods": (".ods", ".ots"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "html": (".html", ".htm", ".xhtml", ".xht", ".shtml"),
    "md": (".md", ".markdown", ".mdx", ".mdown", ".mkd", ".qmd", ".rmd"),
    "rst": (".rst", ".rest"),
    "org": (".org",),
    "txt": (".txt", ".log", ".text", ".asc"),
    "png": (".png",),
    "jpg": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "tiff": (".tiff", ".tif"),
    "bmp": (".bmp", ".dib"),
    "webp": (".webp",),
    "gif": (".gif",),
    "heic": (".heic", ".heif"),
    "code": (".py",),
    "eml": (".eml", ".mht", ".mhtml"),
    "mbox": (".mbox", ".mbx"),
    "msg": (".msg",),
    "rtf": (".rtf",),
    "odt": (".odt", ".ott"),
    "odp": (".odp", ".otp"),
    "epub": (".epub",),
    "ipynb": (".ipynb",),
    "json": (".json", ".geojson", ".webmanifest"),
    "jsonl": (".jsonl", ".ndjson", ".ldjson"),
    "xml": (".xml", ".rss", ".atom", ".xsl", ".xslt", ".xsd", ".svg", ".kml", ".gpx", ".opml", ".rdf", ".wsdl", ".dbk"),
    "zip": (".zip",),
}
MIMES: dict[str, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "doc": "application/msword",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ppt": "application/vnd.ms-powerpoint",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xls": "application/vnd.ms-excel",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "html": "text/html",
    "md": "text/markdown",
    "rst": "text/x-rst",
    "org": "text/x-org",
    "txt": "text/plain",
    "png": "image/png",
    "jpg": "image/jpeg",
    "tiff": "image/tiff",
    "bmp": "image/bmp",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "code": "text/x-source",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "msg": "application/vnd.ms-outlook",
    "rtf": "application/rtf",
    "odt": "application/vnd.oasis.opendocument.text",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "xml": "application/xml",
    "zip": "application/zip",
}
# Formats whose bytes are never plain text: such a name on plain text is a mistake, not a text.
BINARY = {
    "pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xls", "xlsb", "ods", "png", "jpg", "tiff", "bmp", "webp", "gif",
    "heic", "msg", "odt", "odp", "epub", "zip",
}  # fmt: skip
# Names of tree-sitter grammars (and, where there is none, of the language) by extension.
LANGUAGES: dict[str, str] = {
    ".py": "python", ".pyi": "python", ".pyw": "python", ".js": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript",
    ".tsx": "tsx", ".go": "go", ".rs": "rust", ".java": "java", ".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp",
    ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".hxx": "cpp", ".rb": "ruby", ".cs": "csharp", ".php": "php",
    ".kt": "kotlin", ".kts": "kotlin", ".swift": "swift", ".scala": "scala", ".sc": "scala", ".lua": "lua",
    ".r": "r", ".jl": "julia", ".dart": "dart", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".hrl": "erlang",
    ".hs": "haskell", ".ml": "ocaml", ".mli": "ocaml_interface", ".clj": "clojure", ".cljs": "clojure",
    ".cljc": "clojure", ".pl": "perl", ".pm": "perl", ".sh": "bash", ".bash": "bash", ".zsh": "bash", ".fish": "fish",
    ".ps1": "powershell", ".psm1": "powershell", ".sql": "sql", ".m": "objc", ".mm": "objc", ".f": "fortran",
    ".f90": "fortran", ".f95": "fortran", ".f03": "fortran", ".for": "fortran", ".pas": "pascal", ".adb": "ada",
    ".ads": "ada", ".zig": "zig", ".nim": "nim", ".d": "d", ".v": "verilog", ".sv": "systemverilog", ".vhd": "vhdl",
    ".vhdl": "vhdl", ".sol": "solidity", ".proto": "proto", ".graphql": "graphql", ".gql": "graphql",
    ".tf": "terraform", ".hcl": "hcl", ".cmake": "cmake", ".css": "css", ".scss": "scss", ".less": "css",
    ".vue": "vue", ".svelte": "svelte", ".astro": "astro", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
    ".ini": "ini", ".cfg": "ini", ".conf": "ini", ".properties": "properties", ".gradle": "groovy",
    ".groovy": "groovy", ".el": "elisp", ".lisp": "commonlisp", ".cl": "commonlisp", ".scm": "scheme",
    ".rkt": "racket", ".vim": "vim", ".awk": "bash", ".bat": "batch", ".cmd": "batch", ".cu": "cuda", ".cuh": "cuda",
    ".glsl": "glsl", ".hlsl": "hlsl", ".wgsl": "wgsl", ".asm": "asm", ".s": "asm", ".nix": "nix", ".bicep": "bicep",
    ".thrift": "thrift", ".tcl": "tcl", ".elm": "elm", ".purs": "purescript", ".fs": "fsharp", ".fsx": "fsharp",
    ".vb": "vb", ".cob": "cobol", ".cbl": "cobol", ".coffee": "coffeescript", ".bzl": "starlark", ".star": "starlark",
    ".gd": "gdscript", ".mojo": "mojo", ".hx": "haxe", ".cr": "crystal", ".jsonc": "json", ".json5": "json5",
}  # fmt: skip
FILE_NAMES: dict[str, str] = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make",
    "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby", "jenkinsfile": "groovy", "build": "starlark",
    "build.bazel": "starlark", ".bashrc": "bash", ".profile": "bash", ".zshrc": "bash",
}  # fmt: skip
INTERPRETERS: dict[str, str] = {
    "python": "python", "python3": "python", "python2": "python", "node": "javascript", "bash": "bash", "sh": "bash",
    "zsh": "bash", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua", "Rscript": "r", "fish": "fish",
}  # fmt: skip
_BY_EXTENSION = {extension: name for name, extensions in EXTENSIONS.items() for extension in extensions}


def extension_of(filename: str) -> str:
    """The last extension in lower case, with its dot; empty when there is none."""
    return PurePosixPath(filename.replace("\\", "/").strip().rstrip(".")).suffix.lower()


def format_by_name(filename: str) -> str | None:
    """The format a file name claims; None when it says nothing known."""
    extension = extension_of(filename)
    return _BY_EXTENSION.get(extension) or ("code" if language_by_name(filename) else None)


def language_by_name(filename: str) -> str | None:
    """The programming language a file name claims."""
    name = PurePosixPath(filename.replace("\\", "/")).name.lower()
    return FILE_NAMES.get(name) or LANGUAGES.get(extension_of(filename))


def language_by_shebang(first_line: str) -> str | None:
    """The language of a script's `#!` line."""
    if not first_line.startswith("#!"):
        return None
    words = [w.rsplit("/", 1)[-1] for w in first_line[2:200].split() if not w.startswith("-")]
    return next((INTERPRETERS[w.rstrip("0123456789.")] for w in words if w.rstrip("0123456789.") in INTERPRETERS), None)


def own_format(filename: str, settings: Settings) -> str | None:
    """The format of this extension that only its name can tell: the user's own, by `settings.formats` or by its id,
    or one of the table of formats that has no place among `EXTENSIONS`."""
    extension = extension_of(filename)
    for name, extensions in settings.formats.items():
        if extension in {"." + e.lower().lstrip(".") for e in extensions}:
            return name
    name = extension.removeprefix(".")
    return name if name in _by_id(settings) - set(settings.formats) else None


def _by_id(settings: Settings) -> set[str]:
    """Formats whose extension is their id."""
    return {*EXTRACTORS, *announced(EXTRACTOR_GROUP), *settings.extractors} - set(EXTENSIONS)


def known_formats(settings: Settings) -> list[str]:
    return sorted({*EXTENSIONS, *settings.formats, *_by_id(settings)})
