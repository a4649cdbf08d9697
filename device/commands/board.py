"""`novuss board`: the scoreboard by itself, following a broker that something else publishes to."""

from __future__ import annotations

import sys
import threading

from scoreboard.server import Scoreboard


def board(*, mqtt: str, table: str, host: str = "127.0.0.1", port: int = 8080) -> None:
    """Serve the board of `table` from broker `mqtt` until interrupted."""
    scoreboard = Scoreboard(mqtt, table, host, port)
    print(f"scoreboard: {scoreboard.start()}", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        scoreboard.stop()
