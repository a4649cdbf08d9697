"""Evidence in a real browser: still and clip beside the ruling, frame by frame, by keys alone; and what strangers can't get at."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scoreboard.server import Scoreboard
from tests.evidence import filmed
from tests.evidence.conftest import PASSWORD, FilmedTable
from tests.parts.brokers import wait_until
from tests.parts.browser import SHOTS

SIZES = [(360, 640), (1280, 800), (1920, 1080)]


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    errors: list[str] = []
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert errors == []


def shows(page: Any, selector: str, timeout_s: float = 60.0) -> bool:
    def is_visible() -> bool:
        page.wait_for_timeout(50)
        return bool(page.locator(selector).first.is_visible())

    return wait_until(is_visible, timeout_s)


def until(page: Any, script: str, timeout_s: float = 60.0) -> None:
    """Asked from outside: the pages' policy forbids what the browser's own waiting would evaluate."""

    def is_so() -> bool:
        page.wait_for_timeout(30)
        return bool(page.evaluate(script))

    assert wait_until(is_so, timeout_s), script


def shot(page: Any, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))


def sign_in(page: Any, board: Scoreboard) -> None:
    page.goto(f"{board.url}/judge?lang=en")
    page.fill("input[name=name]", "Ilze")
    page.fill("input[name=password]", PASSWORD)
    page.click("form button[type=submit]")


def number_shown(page: Any) -> int:
    """The number drawn in the frame that the player shows."""
    until(page, "!document.querySelector('.player video').seeking")
    page.wait_for_timeout(80)
    pixels = page.evaluate(
        """() => { const video = document.querySelector(".player video"), c = document.createElement("canvas");
        c.width = video.videoWidth; c.height = video.videoHeight; const g = c.getContext("2d"); g.drawImage(video, 0, 0);
        return Array.from(g.getImageData(0, 4, c.width, 1).data).filter((_, n) => n % 4 === 0); }"""
    )
    return sum(1 << bit for bit in range(filmed.BITS) if pixels[round((bit + 0.5) * filmed.BIT_PX)] > 127)


def test_the_still_and_the_clip_come_beside_the_ruling(page: Any, table: FilmedTable, board: Scoreboard, image: Any) -> None:
    page.goto(f"{board.url}/?lang=en&theme=dark")
    page.evaluate(  # on a busy machine the clip may have been shown and be gone again before anybody looks
        """() => { const clip = document.querySelector("[data-part=evidence-clip]"); window.wasShown = false;
        new MutationObserver(() => { window.wasShown ||= !clip.hidden; }).observe(clip, { attributes: true }); }"""
    )
    table.seen()
    table.film(image)
    name = table.rule()
    assert name is not None
    assert wait_until(lambda: table.shelf.get(name) is not None, 120)
    assert shows(page, "[data-part=evidence-link]")
    assert name in page.locator("[data-part=evidence-link]").get_attribute("href")
    until(page, "document.querySelector('[data-part=evidence-still]').naturalWidth === 1600")
    until(page, "window.wasShown")  # it is new: shown once in slow motion
    shot(page, "evidence-replay-1280x800")
    until(page, "document.querySelector('[data-part=evidence-clip]').hidden")
    assert not page.locator("[data-part=evidence-clip]").get_attribute("src")
    table.seen()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        shot(page, f"evidence-board-{width}x{height}")


def test_any_frame_by_keys_alone_and_the_one_that_the_ruling_names(page: Any, table: FilmedTable, board: Scoreboard, image: Any) -> None:
    table.film(image)
    name = table.rule()
    assert name is not None
    assert wait_until(lambda: table.shelf.get(name) is not None, 120)
    piece = table.shelf.get(name)
    assert piece is not None
    page.goto(f"{board.url}/evidence/{name}?lang=en")
    until(page, "document.querySelector('.player video').readyState >= 2")
    seqs = [seq for seq, _ in piece.clip.frames]
    at = piece.moment.index
    assert number_shown(page) == piece.moment.seq
    page.keyboard.press("ArrowRight")
    assert number_shown(page) == seqs[at + 1]
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert number_shown(page) == seqs[at - 2]
    page.keyboard.press("m")
    assert number_shown(page) == piece.moment.seq
    assert page.evaluate("document.querySelector('.player video').playbackRate") == 0.25
    page.keyboard.press("q")
    assert page.evaluate("document.querySelector('.player video').playbackRate") == 1
    page.keyboard.press("Space")
    until(page, "document.querySelector('.player video').currentTime > 0.5")
    page.keyboard.press("Space")
    assert page.evaluate("document.querySelector('.player video').paused")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("m")
        page.wait_for_timeout(300)
        shot(page, f"evidence-page-{width}x{height}")
    page.goto(f"{board.url}/evidence?lang=lv")
    assert page.locator(".evidence-list li").count() == 1
    shot(page, "evidence-list-1920x1080")


def test_the_judge_keeps_a_clip_on_the_console(page: Any, table: FilmedTable, board: Scoreboard, image: Any) -> None:
    table.film(image)
    name = table.rule()
    assert name is not None
    sign_in(page, board)
    assert shows(page, ".card [data-part=evidence-link]")
    page.locator(".card [data-part=evidence-link]").first.focus()
    page.keyboard.press("Enter")
    assert shows(page, "dialog.viewer[open]")
    until(page, "document.querySelector('.player video').readyState >= 2")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        shot(page, f"evidence-viewer-{width}x{height}")
    page.locator("[data-part=viewer-keep]").click()
    assert shows(page, "[data-part=viewer-kept]:not(:empty)")
    piece = table.shelf.get(name)
    assert piece is not None
    assert [(p.ground, p.by) for p in piece.protected] == [("judge", "Ilze")]
    page.locator("[data-part=viewer-keep]").click()
    assert wait_until(lambda: (found := table.shelf.get(name)) is not None and not found.protected)
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)
    assert not page.locator("dialog.viewer[open]").count()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        shot(page, f"evidence-console-{width}x{height}")


def test_a_ruling_without_a_clip_says_why(page: Any, table: FilmedTable, board: Scoreboard) -> None:
    page.goto(f"{board.url}/?lang=en")
    assert table.rule() is None
    assert shows(page, "[data-part=evidence-why]:not(:empty)")
    assert page.locator("[data-part=evidence-why]").inner_text() == "No clip: the moment was not filmed"
    assert not page.locator("[data-part=evidence-link]").is_visible()
    shot(page, "evidence-why-1280x800")


def test_one_file_to_take_home_needs_nothing_else(page: Any, table: FilmedTable, board: Scoreboard, image: Any, tmp_path: Path) -> None:
    table.film(image)
    name = table.rule()
    assert name is not None
    assert wait_until(lambda: table.shelf.get(name) is not None, 120)
    page.goto(f"{board.url}/evidence/{name}?lang=lv")
    with page.expect_download() as waiting:
        page.locator("a[download]").click()
    saved = tmp_path / "saved.html"
    waiting.value.save_as(str(saved))
    assert waiting.value.suggested_filename == f"novuss-{name}.html"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(saved.as_uri())
    until(page, "document.querySelector('.player video').readyState >= 2")
    piece = table.shelf.get(name)
    assert piece is not None
    until(page, "!document.querySelector('.player video').seeking")
    assert f"{piece.moment.index + 1} / {len(piece.clip.frames)}" in page.locator("output").inner_text()
    page.keyboard.press("ArrowRight")
    assert f"{piece.moment.index + 2} / {len(piece.clip.frames)}" in page.locator("output").inner_text()
    assert [url for url in asked if not url.startswith(("data:", saved.as_uri()))] == []
    shot(page, "evidence-file-1280x800")


def ask(board: Scoreboard, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", int(board.url.rsplit(":", 1)[1]), timeout=10)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def test_parts_of_a_clip_are_served_so_that_it_seeks(table: FilmedTable, board: Scoreboard, image: Any) -> None:
    table.film(image)
    name = table.rule()
    assert name is not None
    assert wait_until(lambda: table.shelf.get(name) is not None, 120)
    whole = (table.folder / name / "clip.mp4").read_bytes()
    status, headers, part = ask(board, f"/evidence/{name}/clip.mp4", range="bytes=100-199")
    assert (status, part) == (206, whole[100:200])
    assert headers["content-range"] == f"bytes 100-199/{len(whole)}"
    assert headers["content-type"] == "video/mp4"
    assert "'unsafe-inline'" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/evidence/../log.jsonl",
        "/evidence/%2e%2e/log.jsonl",
        "/evidence/%2e%2e%2flog.jsonl",
        "/evidence/{name}/../../log.jsonl",
        "/evidence/{name}/%2e%2e%2f%2e%2e%2flog.jsonl",
        "/evidence/{name}/evidence.json",
        "/evidence/{name}/..",
        "/evidence/.lock",
        "/evidence/{name}/%00",
        "/evidence//etc/passwd",
    ],
)
def test_no_address_leads_out_of_the_folder(table: FilmedTable, board: Scoreboard, path: str) -> None:
    from tests.evidence.test_shelf import add

    name = add(table.shelf, "0000001-01234567").evidence
    status, _, body = ask(board, path.format(name=name))
    assert status == 404
    assert b"match" not in body


def test_a_stranger_keeps_nothing(table: FilmedTable, board: Scoreboard) -> None:
    from tests.evidence.test_shelf import add

    name = add(table.shelf, "0000001-01234567").evidence
    for method in ("POST", "PUT", "DELETE"):
        assert ask(board, f"/evidence/{name}", method)[0] == 405
    assert ask(board, "/judge/command", "POST")[0] == 403
    assert msgspec.json.decode((table.folder / name / "evidence.json").read_bytes())["protected"] == []
