"""`novuss hall`: one page with every table of a broker."""

from __future__ import annotations

import sys
import threading

from scoreboard.hall import Hall


def hall(*, mqtt: str, host: str = "127.0.0.1", port: int = 8090) -> None:
    """Serve the list of all tables of broker `mqtt`, and each table's board, until interrupted."""
    page = Hall(mqtt, host, port)
    print(f"hall: {page.start()}", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        page.stop()
