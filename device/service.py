"""Talking to systemd: ready after the first frame and the first broker answer, alive only while new frames are worked through.

Without systemd (no NOTIFY_SOCKET) all of it does nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

# Parts of the watchdog's time between two pings: one may be late without harm.
PINGS_PER_WATCHDOG: Final = 4
# Seconds between two prolongations while starting, and how long each lasts: a broker that is away delays readiness, a hang must not.
STARTING_PING_S: Final = 5.0
STARTING_GRACE_S: Final = 30


class Service:
    """This process as systemd sees it; used by the thread that works frames through, and by no other."""

    def __init__(
        self,
        broker_answers: Callable[[], bool],
        environ: Mapping[str, str] = os.environ,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._broker_answers = broker_answers
        self._clock_s = clock_s
        self._address = environ.get("NOTIFY_SOCKET", "")
        watchdog_s = int(environ.get("WATCHDOG_USEC", "0")) / 1e6
        # The variable is inherited by children, whom it does not concern.
        if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
            watchdog_s = 0.0
        self._ping_every_s = watchdog_s / PINGS_PER_WATCHDOG
        self._last_s = float("-inf")
        self._is_ready = False

    def frame(self) -> None:
        """A new frame was worked through: the only thing that proves that the monitor is alive."""
        if not self._address:
            return
        now_s = self._clock_s()
        if not self._is_ready:
            if self._broker_answers():
                self._is_ready = True
                self._last_s = now_s
                self._send("READY=1\nWATCHDOG=1")
            elif now_s - self._last_s >= STARTING_PING_S:
                self._last_s = now_s
                self._send(f"EXTEND_TIMEOUT_USEC={STARTING_GRACE_S * 1_000_000}\nSTATUS=waiting for the broker")
        elif self._ping_every_s and now_s - self._last_s >= self._ping_every_s:
            self._last_s = now_s
            self._send("WATCHDOG=1")

    def waiting(self, what: str) -> None:
        """Not hanging, but without frames: what is waited for lasts longer than any start. Called at least every few seconds."""
        if not self._is_ready:
            self._send(f"EXTEND_TIMEOUT_USEC={STARTING_GRACE_S * 1_000_000}")
            self.status(what)

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={' '.join(text.split())}")

    def stopping(self) -> None:
        """The end has begun, on purpose."""
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # An address that begins with @ is an abstract one. A systemd that does not listen is no reason to stop refereeing.
        name = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            sock.setblocking(False)
            sock.sendto(message.encode(), name)
