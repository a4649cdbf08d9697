"""Draws `scoreboard/static/table.webp` from `scoreboard/art/table.svg`: `python tests/scoreboard/draw_table.py`.

The wood is turbulence noise, which takes a browser without a graphics card more than a second; a picture takes it a few milliseconds.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

from tests.parts.browser import CHROMIUM, FLAGS

SCOREBOARD = Path(__file__).parents[2] / "scoreboard"
SIDE_PX = 1440  # sharp on a 4K television, where the table is about 1800 px: lines are drawn wide
QUALITY = 92  # per cent; no difference to the drawing is seen at arm's length


def main() -> None:
    svg = (SCOREBOARD / "art" / "table.svg").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": SIDE_PX, "height": SIDE_PX})
        page.set_content(f"<style>html,body{{margin:0;background:none}}svg{{display:block;width:100vw;height:100vh}}</style>{svg}")
        png = page.screenshot(omit_background=True)
        browser.close()
    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    ok, webp = cv2.imencode(".webp", picture, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    assert ok, "this OpenCV writes no WebP"
    (SCOREBOARD / "static" / "table.webp").write_bytes(webp.tobytes())
    print(f"{len(webp) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
