"""`novuss setup`: a table's settings, asked for step by step in a terminal or in a browser."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from device.setup import STEPS, Bench, BrowserTalk, TerminalTalk, walk
from device.setup.browser import Left
from rules.errors import WrongUsage
from scoreboard.server import ADMIN_VARIABLE
from scoreboard.web import WebServer

Step = Literal["camera", "focus", "exposure", "lens", "table", "broker", "names"]
PASSWORD_BYTES: Final = 9  # twelve letters to type, beyond guessing
LAST_WORDS_S: Final = 2.0  # a page asks for news more often than that
LOOKS_S: Final = 0.1  # between two looks whether the steps have ended


def setup(
    *steps: Step,
    config: Path | None = None,
    yes: Annotated[bool, Parameter(negative="", alias="-y")] = False,
    browser: Annotated[bool, Parameter(negative="")] = False,
    host: str = "127.0.0.1",
    port: int = 8090,
) -> None:
    """Set a table up step by step: camera, focus, exposure, lens, table, broker, names. Works over ssh, and in a browser.

    What is set is kept in the settings file after each step; each step can be done again at any time. Nothing needs a Pi: `virtual` and a
    video file are cameras too.

    Examples:

    - `novuss setup`: everything
    - `novuss setup focus table`: only these, e.g. after the camera was moved
    - `sudo /opt/novuss/current/bin/novuss setup`: on a Pi, for the service
    - `novuss setup --browser --host 0.0.0.0`: the same with the live picture, on a phone in the same network

    Parameters
    ----------
    steps
        Which steps; all of them when none is named.
    config
        Settings file to write; by default the one in use, else /etc/novuss/novuss.toml for root and the user's own for others.
    yes
        Take the default for every question; fails where there is something wrong. Not with --browser, where somebody answers.
    browser
        Ask on a page instead, with the live picture. It wants the admin's password: NOVUSS_ADMIN_PASSWORD, else one that is printed.
    host
        Address of that page; 0.0.0.0 for everybody in the network.
    port
        Its port; the next free one when it is taken.
    """
    if browser and yes:
        raise WrongUsage("--yes and --browser exclude each other: leave one out, nobody is asked with --yes")
    if browser:
        _in_browser(tuple(steps) or tuple(STEPS), config, host, port)
        return
    with Bench(TerminalTalk(takes_defaults=yes), config) as bench:
        walk(bench, steps or tuple(STEPS), stops_at_errors=yes)


def _in_browser(steps: tuple[str, ...], config: Path | None, host: str, port: int) -> None:
    from device.setup.web import application

    given = os.environ.get(ADMIN_VARIABLE)
    password = given or secrets.token_urlsafe(PASSWORD_BYTES)
    talk = BrowserTalk()
    server = WebServer(application(talk, password), host, port)
    failed: list[Exception] = []
    ended: list[bool] = []

    def work() -> None:
        try:
            with Bench(talk, config) as bench:
                bench.on_frame, bench.on_report, talk.idle = talk.see, talk.see_report, bench.idle
                walk(bench, steps)
        except Left:
            return
        # Whatever it is: it is raised where the command ends, and the page must not say that all is done.
        except Exception as error:
            failed.append(error)
            with contextlib.suppress(Left):
                talk.say(f"WRONG: {error}")
        finally:
            try:
                talk.done()
            finally:
                ended.append(True)

    worker = threading.Thread(target=work, name="setup")
    print(f"set-up: {server.start()}", file=sys.stderr)
    try:  # from here on somebody may press Ctrl-C, and the worker would wait for answers for ever
        print("password: NOVUSS_ADMIN_PASSWORD" if given else f"password: {password}", file=sys.stderr)
        worker.start()
        # Not joined: a join that Ctrl-C interrupts takes the thread for stopped (bpo-45274), and nobody would wait for its end any more.
        while not ended:
            time.sleep(LOOKS_S)
        time.sleep(LAST_WORDS_S)
    finally:
        talk.leave()
        if worker.ident is not None:
            worker.join()
        server.ask_to_stop()
        server.wait_stopped()
    if failed:
        raise failed[0]
