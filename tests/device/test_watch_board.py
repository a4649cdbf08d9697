"""The board of a running monitor in a real browser: a ruling appears; when the broker goes, the page says so and mends itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.device.running import Watch
from tests.device.test_watch import watch
from tests.parts.brokers import Mosquitto, wait_until
from tests.parts.browser import SHOTS

__all__ = ["watch"]

SCREENSHOT = SHOTS / "watch-1280x800.png"
STALE_WITHIN_S = 4.0  # 3 s of silence, and a second for a loaded machine
RIGHT_AGAIN_WITHIN_S = 10.0


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    yield page
    page.close()


def shows(page: Any, selector: str, timeout_s: float) -> bool:
    def is_visible() -> bool:
        page.wait_for_timeout(50)
        return bool(page.locator(selector).first.is_visible())

    return wait_until(is_visible, timeout_s)


def test_a_ruling_appears_and_a_lost_broker_shows(page: Any, watch: Callable[..., Watch], mosquitto: Mosquitto) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    monitor = watch("--seed", "3", "--mqtt", mosquitto.url)
    address = monitor.board()
    page.goto(address)
    assert shows(page, "body[data-link=live]", 60), "discs never came"
    monitor.wait_for(1)
    assert shows(page, "[data-part=ruling]:not([data-state=none])", 20), "the ruling never came"
    assert page.locator("[data-slot][visibility=visible]").count() > 10
    SCREENSHOT.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENSHOT))
    mosquitto.stop()
    assert shows(page, "[data-part=stale]", STALE_WITHIN_S)
    mosquitto.start()
    assert shows(page, "body[data-link=live]", RIGHT_AGAIN_WITHIN_S)
    monitor.kill()
    assert shows(page, "[data-part=stale]", STALE_WITHIN_S)
    again = watch("--seed", "3", "--mqtt", mosquitto.url, "--port", address.rsplit(":", 1)[1])
    assert again.board() == address
    assert shows(page, "body[data-link=live]", 60), "the page did not mend itself after the restart"
    assert errors == []
