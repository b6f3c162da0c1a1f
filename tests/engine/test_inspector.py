"""The inspector over real files: formats told, pages drawn where a reader sees them, hostile files survived."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageDraw

from engine import inspector as module
from engine.errors import Code, CorpusError, InputError
from engine.inspector import Inspector
from engine.marks import Mark
from engine.settings import Settings, load

ORANGE, BLACK, WHITE = (214, 90, 0), (0, 0, 0), (255, 255, 255)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load({"home": tmp_path_factory.mktemp("home"), "password": ["sesame"]}, environ={})


@pytest.fixture(scope="module")
def inspector(settings: Settings) -> Iterator[Inspector]:
    made = Inspector(settings)
    yield made
    made.close()


def picture(png: bytes) -> Image.Image:
    assert png.startswith(module.PNG)
    return Image.open(io.BytesIO(png)).convert("RGB")


def pdf(path: Path, rotation: int = 0, pages: int = 1, **options: object) -> Path:
    """Pages of 200 x 100 points with a black square at (20, 10)-(40, 30) of the page before it is turned."""
    document = pymupdf.open()
    for _ in range(pages):
        page = document.new_page(width=200, height=100)
        page.draw_rect((20, 10, 40, 30), fill=(0, 0, 0), color=(0, 0, 0))
        page.set_rotation(rotation)
    document.save(path, **options)
    return path


@pytest.mark.parametrize(
    ("rotation", "size", "square"),
    [
        (0, (400, 200), (20, 10, 40, 30)),
        (90, (200, 400), (70, 20, 90, 40)),
        (180, (400, 200), (160, 70, 180, 90)),
        (270, (200, 400), (10, 160, 30, 180)),
    ],
)
def test_boxes_stand_where_a_reader_sees_them_on_turned_pages(
    inspector: Inspector, tmp_path: Path, rotation: int, size: tuple[int, int], square: tuple[int, int, int, int]
) -> None:
    path = pdf(tmp_path / "a.pdf", rotation)
    x0, y0, x1, y1 = square
    middle = ((x0 + x1), (y0 + y1))  # in pixels: two a point
    plain = picture(inspector.render(path, "a.pdf", 1, 144, []))
    assert plain.size == size
    assert plain.getpixel(middle) == BLACK
    marked = picture(inspector.render(path, "a.pdf", 1, 144, [(x0 - 5, y0 - 5, x1 + 5, y1 + 5)]))
    assert marked.size == size
    assert marked.getpixel((2 * (x0 - 5), 2 * (y0 - 5))) == ORANGE
    assert marked.getpixel((2 * (x1 + 5), 2 * (y1 + 5))) == ORANGE
    assert marked.getpixel((2 * (x0 - 2), 2 * (y0 - 2))) not in (WHITE, ORANGE)  # tinted, not hidden
    assert marked.getpixel((1, 1)) == WHITE


def test_a_crop_box_moves_the_origin(inspector: Inspector, tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=200, height=100)
    page.draw_rect((60, 40, 80, 60), fill=(0, 0, 0))
    page.set_cropbox(pymupdf.Rect(50, 20, 150, 90))
    document.save(tmp_path / "c.pdf")
    shown = picture(inspector.render(tmp_path / "c.pdf", "c.pdf", 1, 72, [(10, 20, 30, 40)]))
    assert shown.size == (100, 70)
    assert shown.getpixel((10, 20)) == ORANGE
    assert sum(shown.getpixel((20, 30))) < 300
    assert shown.getpixel((40, 50)) == WHITE


def test_pages_that_are_not_there(inspector: Inspector, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", pages=2)
    for page in (0, 3, -1, 10**9):
        with pytest.raises(InputError, match=f"no page {page}") as found:
            inspector.render(path, "a.pdf", page, 72, [])
        assert found.value.code is Code.DOCUMENT_NOT_FOUND
    assert inspector.render(path, "a.pdf", 2, 72, [])


def test_a_format_without_pages_is_refused_with_its_name(inspector: Inspector, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\ntext\n")
    with pytest.raises(InputError, match="format md have no pages") as found:
        inspector.render(tmp_path / "a.md", "a.md", 1, 72, [])
    assert found.value.code is Code.INVALID_REQUEST


@pytest.mark.parametrize(
    ("dpi", "boxes"), [(35, []), (301, []), (72, [(0, 0, float("nan"), 1)]), (72, [(0, 0, 1, 1)] * 201)]
)
def test_views_out_of_bounds(inspector: Inspector, tmp_path: Path, dpi: int, boxes: list) -> None:
    with pytest.raises(InputError) as found:
        inspector.render(pdf(tmp_path / "a.pdf"), "a.pdf", 1, dpi, boxes)
    assert found.value.code is Code.INVALID_REQUEST


def test_boxes_off_the_page_are_clipped(inspector: Inspector, tmp_path: Path) -> None:
    shown = inspector.render(pdf(tmp_path / "a.pdf"), "a.pdf", 1, 72, [(-1e300, -5, 1e300, 1e300), (50, 50, 50, 50)])
    assert picture(shown).getpixel((0, 0)) == ORANGE


def test_frames_of_a_tiff_are_pages_in_points(inspector: Inspector, tmp_path: Path) -> None:
    frames = [Image.new("L", (300, 150), 255) for _ in range(3)]
    ImageDraw.Draw(frames[1]).rectangle((150, 75, 180, 105), fill=0)  # at 150 dpi: (72, 36)-(86.4, 50.4) points
    path = tmp_path / "scan.tif"
    for frame in frames:
        frame.info["dpi"] = (150, 150)
    frames[0].save(path, save_all=True, append_images=frames[1:], dpi=(150, 150))
    first = picture(inspector.render(path, "scan.tif", 1, 75, []))
    assert first.size == (150, 75)
    assert first.getextrema() == ((255, 255),) * 3
    second = picture(inspector.render(path, "scan.tif", 2, 75, [(57.6, 28.8, 100, 60)]))
    assert second.getpixel((82, 45))[0] < 100
    assert second.getpixel((60, 45)) == ORANGE
    assert picture(inspector.render(path, "scan.tif", 2, 300, [])).size == (300, 150)  # never enlarged
    with pytest.raises(InputError, match="no page 4"):
        inspector.render(path, "scan.tif", 4, 75, [])


def test_a_photo_is_shown_upright(inspector: Inspector, tmp_path: Path) -> None:
    image = Image.new("RGB", (100, 50), "white")
    image.paste((0, 0, 0), (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    image.save(tmp_path / "p.jpg", exif=exif, quality=95)
    shown = picture(inspector.render(tmp_path / "p.jpg", "p.jpg", 1, 72, []))
    assert shown.size == (50, 100)
    assert shown.getpixel((40, 10))[0] < 30
    assert shown.getpixel((10, 10))[0] > 225


def test_pixels_are_bounded(tmp_path: Path) -> None:
    small = Inspector(load({"home": tmp_path, "limits.image_pixels": 20_000}, environ={}))
    try:
        shown = picture(small.render(pdf(tmp_path / "a.pdf"), "a.pdf", 1, 300, [(20, 10, 40, 30)]))
        assert shown.width * shown.height <= 20_400
        scale = shown.width / 200
        assert shown.getpixel((round(20 * scale), round(10 * scale))) == ORANGE
        Image.new("L", (200, 101), 255).save(tmp_path / "b.png")
        with pytest.raises(InputError, match="image_pixels") as found:
            small.render(tmp_path / "b.png", "b.png", 1, 72, [])
        assert found.value.code is Code.LIMIT_EXCEEDED
    finally:
        small.close()


def test_elements_are_drawn_over_the_page_with_a_legend_under_it(inspector: Inspector, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf")
    drawn = picture(inspector.mark(path, "a.pdf", 1, 144, [Mark("table", 1, 60, 10, 120, 40)]))
    assert drawn.width == 400 and drawn.height > 200
    assert drawn.getpixel((60, 40)) == BLACK  # the page itself, at 2 pixels a point
    assert drawn.getpixel((120, 70)) == drawn.getpixel((240, 50)) == (140, 60, 180)
    with pytest.raises(InputError, match="no page 2"):
        inspector.mark(path, "a.pdf", 2, 144, [])


def test_encrypted_documents_open_with_the_configured_passwords_only(inspector: Inspector, tmp_path: Path) -> None:
    options = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o"}
    assert inspector.render(pdf(tmp_path / "a.pdf", user_pw="sesame", **options), "a.pdf", 1, 72, [])
    with pytest.raises(InputError) as found:
        inspector.render(pdf(tmp_path / "b.pdf", user_pw="other", **options), "b.pdf", 1, 72, [])
    assert found.value.code is Code.ENCRYPTED_DOCUMENT


def test_detects_and_refuses(inspector: Inspector, tmp_path: Path) -> None:
    assert inspector.detect(pdf(tmp_path / "named.txt"), "named.txt") == "pdf"
    (tmp_path / "x").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    with pytest.raises(InputError) as found:
        inspector.detect(tmp_path / "x", "x")
    assert found.value.code is Code.UNSUPPORTED_FORMAT
    assert found.value.details["detected_format"] == "application/octet-stream"
    assert "pdf" in found.value.details["supported_formats"]  # pyright: ignore[reportOperatorIssue]
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n")
    with pytest.raises(InputError) as found:
        inspector.render(tmp_path / "broken.pdf", "broken.pdf", 1, 72, [])
    assert found.value.code is Code.EXTRACTION_FAILED


def test_a_child_that_dies_or_hangs_costs_one_call(
    inspector: Inspector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pdf(tmp_path / "a.pdf")
    assert inspector.detect(path, "a.pdf") == "pdf"
    child = inspector._drawing._slot.pid
    assert child is not None
    monkeypatch.setattr(module, "RENDER_SECONDS", 1.0)
    os.kill(child, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(InputError, match="rendering the page took longer than 1 s") as found:
        inspector.render(path, "a.pdf", 1, 72, [])
    assert found.value.code is Code.EXTRACTION_TIMEOUT
    assert time.monotonic() - start < 3
    monkeypatch.undo()
    assert inspector.render(path, "a.pdf", 1, 72, [])
    assert inspector._drawing._slot.pid != child


def test_many_threads_share_one_child(inspector: Inspector, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", pages=8)
    inspector.detect(path, "a.pdf")
    started = inspector._drawing._slot.started
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(lambda n: inspector.render(path, "a.pdf", n % 8 + 1, 36, []), range(24)))
    assert len(set(shown)) == 1
    assert inspector._drawing._slot.started == started
    # the caller's thread ending must not end the child
    one = threading.Thread(target=lambda: inspector.detect(path, "a.pdf"))
    one.start()
    one.join()
    time.sleep(0.1)
    assert inspector.detect(path, "a.pdf") == "pdf"
    assert inspector._drawing._slot.started == started


def test_callers_are_told_to_come_again_when_too_many_wait(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Inspector(settings)
    path = pdf(tmp_path / "a.pdf")
    try:
        made.detect(path, "a.pdf")
        monkeypatch.setattr(module, "QUEUE_SECONDS", 0.2)
        monkeypatch.setattr(module, "DETECT_SECONDS", 2.0)
        os.kill(made._detecting._slot.pid or 0, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as other:
            first = other.submit(made.detect, path, "a.pdf")
            time.sleep(0.1)
            with pytest.raises(CorpusError) as found:
                made.detect(path, "a.pdf")
            assert found.value.code is Code.OVERLOADED
            error = first.exception()
        assert isinstance(error, InputError)
        assert error.code is Code.EXTRACTION_TIMEOUT
    finally:
        made.close()


def test_close_ends_the_child_and_a_later_call_starts_another(settings: Settings, tmp_path: Path) -> None:
    made = Inspector(settings)
    path = pdf(tmp_path / "a.pdf")
    assert made.detect(path, "a.pdf") == "pdf"
    child = made._detecting._slot.pid
    made.close()
    assert not Path(f"/proc/{child}").exists()
    assert made.detect(path, "a.pdf") == "pdf"
    made.close()
    made.close()
