"""Jupyter notebooks of both formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.document import walk
from engine.errors import Code, InputError
from engine.records import ExtractedDocument
from tests.engine.extract.text_files import elements, headings, losses, read


def test_cells_and_outputs_in_order(tmp_path: Path) -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "\n", "Some *text*"]},
            {
                "cell_type": "code",
                "source": "print(1)",
                "outputs": [
                    {"output_type": "stream", "text": ["1\n", "2\n"]},
                    {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo", "text/plain": "<Figure>"}},
                    {"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m: no"]},
                    {
                        "output_type": "execute_result",
                        "data": {"text/html": "<table><tr><td>a<td>b<tr><td>1<td>2</table>"},
                    },
                ],
            },
            {"cell_type": "raw", "source": "raw words"},
        ],
    }
    document = read(tmp_path, "a.ipynb", json.dumps(notebook))
    assert headings(document) == [(1, "Title")]
    codes = [(c.content, c.attributes["cell"]) for c in elements(document, "code")]
    assert codes == [("print(1)", "code"), ("1\n2", "output"), ("ValueError: no", "output")]
    assert document.tables[0].rows == [["a", "b"], ["1", "2"]]
    assert document.content.endswith("raw words") and "iVBORw0KGgo" not in document.content
    assert [image.mime_type for image in document.images] == ["image/png"]
    assert losses(document) == {}


def outputs(folder: Path, *data: dict[str, object]) -> ExtractedDocument:
    found = [{"output_type": "display_data", "data": one} for one in data]
    cell = {"cell_type": "code", "source": "x", "outputs": found}
    return read(folder, "a.ipynb", json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}))


def test_every_kind_of_output(tmp_path: Path) -> None:
    document = outputs(
        tmp_path,
        {"text/markdown": "**said**"},
        {"application/json": {"k": 1}, "text/plain": "<IPython.core.display.JSON object>"},
        {"text/plain": "10%\r20%\r100%\ndone"},
        {"image/svg+xml": "<svg/>", "text/plain": "<Figure>"},
        {"application/vnd.plotly.v1+json": {"data": []}},
        {"text/plain": "y" * 30_000},
    )
    blocks = [e.content for e in walk(document.structure)][1:]
    assert blocks[:3] == ["said", '{\n "k": 1\n}', "100%\ndone"]
    assert blocks[3:] == ["y" * 20_000]
    assert losses(document) == {"output_picture_skipped": 1, "output_skipped": 1, "output_cut": 1}


def test_format_3(tmp_path: Path) -> None:
    old = {
        "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": "H"}, {"cell_type": "code", "input": "x = 1"}]}
        ]
    }
    assert read(tmp_path, "a.ipynb", json.dumps(old)).content == "## H\n\n```\nx = 1\n```"


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '"x"'])
def test_no_notebook_is_an_error(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.ipynb", text)
    assert caught.value.code is Code.EXTRACTION_FAILED
