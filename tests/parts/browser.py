"""A real Chromium for the tests of pages."""

from __future__ import annotations

from pathlib import Path

CHROMIUM = "/usr/bin/chromium"
# As root in a container, and without the requests that a browser makes on its own account.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SHOTS = Path(__file__).parents[2] / "out" / "screenshots"
