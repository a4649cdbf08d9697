"""`novuss board`: the scoreboard by itself, following a broker that something else publishes to."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Final

from device.commands.config import export_login, read
from device.evidence.gallery import ShelfGallery
from scoreboard.server import Scoreboard

LOCAL_BROKER: Final = "mqtt://127.0.0.1"


def board(
    *,
    config: Path | None = None,
    mqtt: str | None = None,
    table: str | None = None,
    host: str | None = None,
    port: int | None = None,
    evidence: Path | None = None,
) -> None:
    """Serve the scoreboard of a table on any broker until interrupted.

    Board at `/`, stream overlay at `/overlay`, statistics at `/stats`, judge's console at `/judge`
    (passwords in NOVUSS_JUDGE_PASSWORD and NOVUSS_ADMIN_PASSWORD).

    What is not said here comes from NOVUSS_SECTION_KEY in the environment, then from the settings file (`novuss config`).

    Example: `novuss board --mqtt mqtt://hall.local --table 7`

    Parameters
    ----------
    config
        Settings file; otherwise NOVUSS_CONFIG, the user's or /etc/novuss/novuss.toml.
    mqtt
        The broker, as `novuss watch --mqtt` takes it; one on this machine by default.
    table
        Name of the table in the topics; `table` by default.
    host
        Address to listen on, 127.0.0.1 by default; 0.0.0.0 for everybody in the network.
    port
        Port of the page, 8080 by default; the next free one is used when it is taken.
    evidence
        Folder in which this table's monitor keeps clips and stills, where it is on this machine.
    """
    settings = read(config, {"mqtt": mqtt, "table": table, "host": host, "port": port, "evidence": evidence}).settings
    export_login(settings)
    shelf = settings.data.evidence_folder if settings.data.evidence else None
    scoreboard = Scoreboard(
        settings.mqtt.url or LOCAL_BROKER,
        settings.table.name,
        settings.board.host,
        settings.board.port,
        gallery=None if shelf is None else ShelfGallery(shelf),
    )
    print(f"scoreboard: {scoreboard.start()}", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        scoreboard.stop()
