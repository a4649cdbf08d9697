"""Who is signed in at the judge's console: one password given at the start, a name for the log, a cookie that no script can read."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

COOKIE: Final = "novuss_judge"
LASTS_S: Final = 12 * 3600.0  # a tournament day
TRIES: Final = 5  # wrong passwords in a row before the door stays shut for a while
SHUT_S: Final = 30.0  # long enough that guessing is hopeless, short enough for a judge who mistyped
MAX_NAME: Final = 40  # characters of a judge's name
MAX_SESSIONS: Final = 50  # judges at one table; the oldest is signed out


class Sessions:
    """Signed-in judges of one board; lives in the event loop's thread. Without a password nobody gets in."""

    def __init__(self, password: str | None, clock_s: Callable[[], float]) -> None:
        self._password = _digest(password) if password else None
        self._clock_s = clock_s
        self._names: dict[str, tuple[str, float]] = {}
        self._wrong = 0
        self._shut_until_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether a password was given, so that signing in is possible at all."""
        return self._password is not None

    @property
    def is_shut(self) -> bool:
        """Whether too many wrong passwords came in a row."""
        return self._clock_s() < self._shut_until_s

    def sign_in(self, name: str, password: str) -> str | None:
        """A new session's token, or None: wrong password, no name, or the door is shut."""
        name = " ".join(name.split())[:MAX_NAME]
        if self._password is None or self.is_shut:
            return None
        if not hmac.compare_digest(_digest(password), self._password) or not name:
            self._wrong += 1
            if self._wrong >= TRIES:
                self._wrong, self._shut_until_s = 0, self._clock_s() + SHUT_S
            return None
        self._wrong = 0
        token = secrets.token_urlsafe(32)
        self._names[_digest(token).hex()] = (name, self._clock_s() + LASTS_S)
        while len(self._names) > MAX_SESSIONS:
            del self._names[next(iter(self._names))]
        return token

    def name_of(self, token: str | None) -> str | None:
        """The judge's name, or None for a stranger."""
        if not token:
            return None
        name, until_s = self._names.get(_digest(token).hex(), ("", 0.0))
        return name if self._clock_s() < until_s else None

    def sign_out(self, token: str | None) -> None:
        """End one session."""
        self._names.pop(_digest(token or "").hex(), None)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
