"""`novuss board`: the scoreboard by itself, following a broker that something else publishes to."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from device.evidence.gallery import ShelfGallery
from scoreboard.server import Scoreboard


def board(
    *, mqtt: str = "mqtt://127.0.0.1", table: str = "table", host: str = "127.0.0.1", port: int = 8080, evidence: Path | None = None
) -> None:
    """Serve the scoreboard of a table on any broker until interrupted.

    Board at `/`, stream overlay at `/overlay`, judge's console at `/judge` (its password in NOVUSS_JUDGE_PASSWORD).

    Example: `novuss board --mqtt mqtt://hall.local --table 7`

    Parameters
    ----------
    mqtt
        The broker, as `novuss watch --mqtt` takes it.
    table
        Name of the table in the topics.
    host
        Address to listen on; 0.0.0.0 for everybody in the network.
    port
        Port of the page; the next free one is used when it is taken.
    evidence
        Folder in which this table's monitor keeps clips and stills, where it is on this machine.
    """
    scoreboard = Scoreboard(mqtt, table, host, port, gallery=None if evidence is None else ShelfGallery(evidence))
    print(f"scoreboard: {scoreboard.start()}", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        scoreboard.stop()
