"""Questions and answers: in a terminal, over ssh too, or by whoever stands in for a person."""

from __future__ import annotations

import getpass
import select
import sys
from typing import Protocol

from rules.errors import InputUnusable


class Talk(Protocol):
    """Somebody who can be asked."""

    def say(self, text: str) -> None:
        """One line."""
        ...

    def show(self, text: str) -> None:
        """A line that the next one takes the place of."""
        ...

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        """An answer, the default for an empty one."""
        ...

    def has_enough(self) -> bool:
        """Whether the person wants to go on while something is being shown."""
        ...


class TerminalTalk:
    """`takes_defaults`: every question is answered by its default, and nothing is waited for."""

    def __init__(self, *, takes_defaults: bool = False) -> None:
        self._takes_defaults = takes_defaults
        self._showing = False

    def say(self, text: str) -> None:
        """One line."""
        if self._showing:
            sys.stdout.write("\n")
            self._showing = False
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def show(self, text: str) -> None:
        """A line that the next one takes the place of; in a file that is read later every one of them would stay."""
        if sys.stdout.isatty():
            sys.stdout.write(f"\r\x1b[K{text}")
            sys.stdout.flush()
            self._showing = True

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        """An answer, the default for an empty one."""
        if self._takes_defaults:
            return default
        self.say("")
        prompt = f"{question}{f' [{default}]' if default and not hidden else ''}: "
        try:
            answer = getpass.getpass(prompt) if hidden else input(prompt)
        except EOFError as error:
            raise InputUnusable("nobody answers; what was set so far is kept. Without a terminal: novuss setup --yes") from error
        return answer.strip() or default

    def has_enough(self) -> bool:
        """Whether Enter was pressed; where nobody can press it, at once."""
        if self._takes_defaults or not sys.stdin.isatty():
            return True
        ready, _, _ = select.select([sys.stdin], [], [], 0.0)
        if ready:
            sys.stdin.readline()
        return bool(ready)
