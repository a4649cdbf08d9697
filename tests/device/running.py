"""`novuss watch` as a process of its own, started and ended by its id."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from device.storage.match_log import LogLine, read_lines
from tests.parts.brokers import wait_until

NOVUSS = str(Path(sys.executable).with_name("novuss"))


class Watch:
    """A running monitor on the virtual table, as fast as it goes; `folder` holds its log and outbox."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.log = folder / "log.jsonl"
        self._said = folder / f"said-{len(list(folder.glob('said-*')))}.txt"
        with self._said.open("wb") as said:
            command = [NOVUSS, "watch", "virtual", "--fast", "--record", str(self.log), *words]
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env={**_environment(), "COLUMNS": "200"})

    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def entries(self) -> list[LogLine]:
        """Log lines but the match entries."""
        return [line for line in read_lines(self.log).lines if line.entry] if self.log.exists() else []

    def wait_for(self, entries: int, timeout_s: float = 240.0) -> None:
        """Until the log holds this many entries."""
        enough = wait_until(lambda: len(self.entries()) >= entries or self._process.poll() is not None, timeout_s)
        assert enough, self.said()
        assert self._process.poll() is None, self.said()

    def board(self) -> str:
        """Address that it printed for the scoreboard."""
        assert wait_until(lambda: "scoreboard: " in self.said(), 60), self.said()
        found = re.search(r"scoreboard: (\S+)", self.said())
        assert found
        return found.group(1)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)

    def end(self) -> tuple[int, float]:
        """Ctrl-C; exit status and how long it took."""
        started = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(30)
        return status, time.monotonic() - started

    def make_sure_it_ended(self) -> None:
        if self._process.poll() is None:
            self.kill()


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONUNBUFFERED": "1"}
