"""Who is signed in at the judge's console: a password a role given at the start, a name for the log, a cookie that no script can read."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

COOKIE: Final = "novuss_judge"
LASTS_S: Final = 12 * 3600.0  # a tournament day
TRIES: Final = 5  # wrong passwords in a row before the door stays shut for a while
SHUT_S: Final = 30.0  # long enough that guessing is hopeless, short enough for a judge who mistyped
MAX_NAME: Final = 40  # characters of a judge's name
MAX_SESSIONS: Final = 50  # judges at one table; the oldest is signed out

# Everybody else is a board, which only looks. An admin may all that a judge may, begin a match over one that is being played,
# read who did what, and sign others out.
Role = Literal["judge", "admin"]


class Session(NamedTuple):
    """One person at the console; `key` names the session without opening it."""

    key: str
    name: str
    role: Role
    until_s: float


class Sessions:
    """Signed-in people of one board; lives in the event loop's thread. A role without a password lets nobody in."""

    def __init__(self, passwords: Mapping[Role, str | None], clock_s: Callable[[], float]) -> None:
        self._passwords = {role: _digest(password) for role, password in passwords.items() if password}
        self._clock_s = clock_s
        self._sessions: dict[str, Session] = {}
        self._wrong = 0
        self._shut_until_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether a password was given, so that signing in is possible at all."""
        return bool(self._passwords)

    @property
    def is_shut(self) -> bool:
        """Whether too many wrong passwords came in a row."""
        return self._clock_s() < self._shut_until_s

    @property
    def all(self) -> list[Session]:
        """Everybody who is signed in."""
        return [session for session in self._sessions.values() if self._clock_s() < session.until_s]

    def sign_in(self, name: str, password: str) -> str | None:
        """A new session's token, or None: wrong password, no name, or the door is shut."""
        name = " ".join(name.split())[:MAX_NAME]
        if not self.is_open or self.is_shut:
            return None
        given = _digest(password)
        # Every password is compared, so that the time taken says nothing.
        roles = [role for role, right in self._passwords.items() if hmac.compare_digest(given, right)]
        if not roles or not name:
            self._wrong += 1
            if self._wrong >= TRIES:
                self._wrong, self._shut_until_s = 0, self._clock_s() + SHUT_S
            return None
        self._wrong = 0
        token = secrets.token_urlsafe(32)
        key = _key(token)
        self._sessions[key] = Session(key, name, "admin" if "admin" in roles else "judge", self._clock_s() + LASTS_S)
        while len(self._sessions) > MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return token

    def of(self, token: str | None) -> Session | None:
        """Whose token this is; None for a stranger."""
        session = self._sessions.get(_key(token)) if token else None
        return session if session is not None and self._clock_s() < session.until_s else None

    def sign_out(self, token: str | None) -> None:
        """End one's own session."""
        self.end(_key(token or ""))

    def end(self, key: str) -> str | None:
        """End the session with this key; whose it was."""
        session = self._sessions.pop(key, None)
        return None if session is None else session.name


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _key(token: str) -> str:
    return _digest(token).hex()
