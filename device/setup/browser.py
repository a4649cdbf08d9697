"""The person at a browser: what is said and asked waits here for the page, and the page's answers for the steps."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from device.images import as_jpeg
from rules.errors import NovussError

LINES: Final = 400  # kept for a page that is opened late; a whole set-up says some fifty
IDLE_S: Final = 0.2  # between two pictures while an answer is waited for: enough to see where the camera points
PICTURE_PX: Final = 960  # width of the page's picture: half of the smallest camera's is sharp enough to turn a lens by
QUALITY: Final = 80  # per cent, JPEG


class Left(NovussError):
    """The page was closed for good, or the program ends; what was set so far is kept."""


class BrowserTalk:
    """Steps call `say`, `show`, `ask`, `has_enough` in their thread; the page calls the rest in its own."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: deque[str] = deque(maxlen=LINES)
        self._said = 0
        self._showing = ""
        self._question: dict[str, Any] | None = None
        self._asked = 0
        self._answer: str | None = None
        self._enough = self._left = self._done = False
        self._picture: NDArray[np.uint8] | None = None
        self._pictures = 0
        self._report: bytes | None = None
        self._reports = 0
        # Called by the steps' thread while an answer is waited for; takes the next picture.
        self.idle: Callable[[], None] = lambda: None

    # --- the steps' side ------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """One line, or a heading with an empty one before it."""
        with self._changed:
            self._check()
            self._showing = ""
            for line in text.strip("\n").split("\n"):
                self._lines.append(line)
                self._said += 1

    def show(self, text: str) -> None:
        """A line that the next one takes the place of."""
        with self._changed:
            self._check()
            self._showing = text

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        """An answer, the default for an empty one; the picture goes on meanwhile."""
        with self._changed:
            self._asked += 1
            self._enough, self._answer = False, None
            self._question = {"number": self._asked, "text": question, "default": "" if hidden else default, "hidden": hidden}
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._answer is not None or self._left, IDLE_S)
                    self._check()
                    if self._answer is not None:
                        return self._answer.strip() or default
                self.idle()
        finally:
            with self._changed:
                self._question = None

    def has_enough(self) -> bool:
        """Whether the page's button for it was pressed."""
        with self._changed:
            self._check()
            enough, self._enough = self._enough, False
            return enough

    def see(self, image: NDArray[np.uint8]) -> None:
        """The newest picture of the camera."""
        with self._changed:
            self._picture = image
            self._pictures += 1

    def see_report(self, png: bytes) -> None:
        """The picture of what fits how well."""
        with self._changed:
            self._report = png
            self._reports += 1

    def done(self) -> None:
        """Nothing more is asked."""
        with self._changed:
            self._done = True

    def _check(self) -> None:
        if self._left:
            raise Left("set-up was ended; what was set so far is kept")

    # --- the page's side ------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the page shows."""
        with self._changed:
            return {
                "first": self._said - len(self._lines),
                "lines": list(self._lines),
                "showing": self._showing,
                "question": self._question,
                "picture": self._pictures,
                "report": self._reports,
                "done": self._done,
            }

    def answer(self, number: int, text: str) -> bool:
        """What was answered to that question; False where another one is asked by now."""
        with self._changed:
            if self._question is None or self._question["number"] != number or self._answer is not None:
                return False
            self._answer = text
            self._changed.notify_all()
            return True

    def enough(self) -> None:
        """The person wants to go on while something is shown."""
        with self._changed:
            self._enough = True

    def leave(self) -> None:
        """Nobody answers any more."""
        with self._changed:
            self._left = True
            self._changed.notify_all()

    @property
    def report(self) -> bytes | None:
        """The picture of what fits how well, as PNG; None before the table was found."""
        with self._changed:
            return self._report

    def jpeg(self) -> bytes | None:
        """The newest picture for the page; None where there is none yet."""
        with self._changed:
            image = self._picture
        if image is None:
            return None
        scale = min(1.0, PICTURE_PX / image.shape[1])
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1.0 else image
        return as_jpeg(np.asarray(small, dtype=np.uint8), QUALITY)
