"""Source code: definitions as sections, everything verbatim and in order, and never a download."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.extract.code.grammar import is_available
from tests.engine.extract.text_files import elements, headings, losses, read

PYTHON = '''"""Module words."""
import os

LIMIT = 3  # the most


# Explains the lamp.
@dataclass
class Lamp(Base):
    """A lamp."""

    colour: str = "white"

    def flash(self, n: int) -> None:
        """Flash n times."""
        # loop
        return n

    size = 1


async def main():
    def helper():
        pass


main()
'''


@pytest.mark.parametrize(
    "language",
    ["python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "ruby", "csharp", "php", "kotlin"],
)
def test_grammars_are_carried_not_fetched(language: str) -> None:
    assert is_available(language)


def test_python(tmp_path: Path) -> None:
    document = read(tmp_path, "lamp.py", PYTHON)
    assert headings(document) == [
        (1, "class Lamp"), (2, "method flash"), (2, "Lamp, lines 19 to 19"), (1, "function main"),
        (1, "top level, lines 27 to 27"),
    ]  # fmt: skip
    codes = elements(document, "code")
    assert codes[0].content == '"""Module words."""\nimport os\n\nLIMIT = 3  # the most'
    assert (
        codes[1].content
        == '# Explains the lamp.\n@dataclass\nclass Lamp(Base):\n    """A lamp."""\n\n    colour: str = "white"'
    )
    assert codes[2].content == 'def flash(self, n: int) -> None:\n    """Flash n times."""\n    # loop\n    return n'
    assert codes[2].attributes == {
        "language": "python", "kind": "method", "lines": "14-17", "symbol": "Lamp.flash", "docstring": "Flash n times.",
        "comments": "loop", "signature": "def flash(self, n: int) -> None",
    }  # fmt: skip
    assert codes[1].attributes["docstring"] == "A lamp."
    written = "".join(PYTHON.split())
    assert "".join("".join(c.content for c in codes).split()) == written


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.ts",
            "/** Adds. */\nexport function add(a: number) { return a; }\nexport const mul = (a) => a;\n"
            "export class Tower {\n  h = 3;\n  height() { return this.h; }\n}\n",
            ["function add", "function mul", "class Tower", "method height"],
        ),
        (
            "a.rs",
            "/// A point.\nstruct Point { x: i32 }\nimpl Show for Point {\n  fn show(&self) {}\n}\nfn main() {}\n",
            ["struct Point", "impl Show for Point", "method show", "function main"],
        ),
        (
            "a.cpp",
            "namespace sea {\nclass Buoy {\n int weight() const { return 1; }\n};\n}\nint main(int c) { return 0; }\n",
            ["namespace sea", "class Buoy", "method weight", "function main"],
        ),
        ("a.go", "package a\n\ntype Light struct{}\n\nfunc (l *Light) On() {}\n", ["type Light", "method Light.On"]),
        (
            "a.java",
            "class Foo {\n  Foo() {}\n  int bar() { return 1; }\n}\n",
            ["class Foo", "method Foo", "method bar"],
        ),
        (
            "a.rb",
            "module Sea\n  class Boat\n    def sail\n    end\n  end\nend\n",
            ["module Sea", "class Boat", "method sail"],
        ),
        ("a.c", "static int *find(char *s) { return 0; }\n", ["function find"]),
        ("a.php", "<?php\nfunction f() {}\nclass A { function g() {} }\n", ["function f", "class A", "method g"]),
    ],
)  # fmt: skip
def test_other_languages(name: str, source: str, expected: list[str], tmp_path: Path) -> None:
    document = read(tmp_path, name, source)
    assert [text for _, text in headings(document)] == expected
    docs = [c.attributes.get("docstring") for c in elements(document, "code")]
    assert ("Adds." in docs) == (name == "a.ts") and ("A point." in docs) == (name == "a.rs")


def test_without_a_grammar_code_is_kept_in_blocks(tmp_path: Path) -> None:
    block = "line one\nline two\n\n" * 100
    document = read(tmp_path, "a.vb", block)
    codes = elements(document, "code")
    assert losses(document) == {"outline_missing": 1}
    assert len(codes) > 2 and {c.attributes["language"] for c in codes} == {"vb"}
    assert "".join("".join(c.content for c in codes).split()) == "".join(block.split())


def test_minified_code_gets_no_outline(tmp_path: Path) -> None:
    document = read(tmp_path, "a.js", "var a=function(b){return b+1};" * 2000)
    assert headings(document) == []
    assert document.content.count("return b+1") >= 1990
    assert losses(document) == {"outline_missing": 1}


def test_a_syntax_error_loses_nothing(tmp_path: Path) -> None:
    source = "def f(:\n    return ((1\n\nclass X\n   pass\nanything at all"
    content = read(tmp_path, "a.py", source).content
    for word in ("def f(:", "return ((1", "class X", "anything at all"):
        assert word in content


def test_a_script_by_its_first_line(tmp_path: Path) -> None:
    document = read(tmp_path, "run", "#!/usr/bin/env python3\ndef f():\n    pass\n")
    assert document.metadata.extra["language"] == "python"


@pytest.mark.parametrize(
    ("name", "source", "signatures"),
    [
        ("a.ts", "class F<T> extends B {\n  async m<T>(x: T): Promise<void> { return; }\n}\n",
         ["class F<T> extends B", "async m<T>(x: T): Promise<void>"]),
        ("b.ts", "export const add = async (x: number) => { return x };\n", ["add = async (x: number)"]),
        ("a.go", "func (t *T) M(x int) (int, error) { return x, nil }\n", ["func (t *T) M(x int) (int, error)"]),
        ("a.rs", "pub trait Tr { fn t(&self) -> u8; }\n", ["pub trait Tr", "fn t(&self) -> u8"]),
        ("a.cpp", "class C {\n public:\n  virtual ~C() {}\n};\n", ["class C", "virtual ~C()"]),
    ],
)  # fmt: skip
def test_signatures(name: str, source: str, signatures: list[str], tmp_path: Path) -> None:
    document = read(tmp_path, name, source)
    found = [e.attributes["signature"] for e in elements(document, "code") if "signature" in e.attributes]
    assert found == signatures
