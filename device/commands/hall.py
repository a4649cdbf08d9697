"""`novuss hall`: one page with every table of a broker."""

from __future__ import annotations

import sys
import threading

from scoreboard.hall import Hall


def hall(*, mqtt: str = "mqtt://127.0.0.1", host: str = "127.0.0.1", port: int = 8090) -> None:
    """Serve the list of all tables of a broker, and each table's board, until interrupted.

    Example: `novuss hall --mqtt mqtt://hall.local`

    Parameters
    ----------
    mqtt
        The broker, as `novuss watch --mqtt` takes it.
    host
        Address to listen on; 0.0.0.0 for everybody in the network.
    port
        Port of the page; the next free one is used when it is taken.
    """
    page = Hall(mqtt, host, port)
    print(f"hall: {page.start()}", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        page.stop()
