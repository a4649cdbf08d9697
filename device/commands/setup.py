"""`novuss setup`: a table's settings, asked for step by step in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from device.setup import STEPS, Bench, TerminalTalk
from rules.errors import NovussError

Step = Literal["camera", "focus", "exposure", "lens", "table", "broker", "names"]


def setup(*steps: Step, config: Path | None = None, yes: Annotated[bool, Parameter(negative="", alias="-y")] = False) -> None:
    """Set a table up step by step: camera, focus, exposure, lens, table, broker, names. Works over ssh.

    What is set is kept in the settings file after each step; each step can be done again at any time. Nothing needs a Pi: `virtual` and a
    video file are cameras too.

    Examples:

    - `novuss setup`: everything
    - `novuss setup focus table`: only these, e.g. after the camera was moved
    - `sudo /opt/novuss/current/bin/novuss setup`: on a Pi, for the service

    Parameters
    ----------
    steps
        Which steps; all of them when none is named.
    config
        Settings file to write; by default the one in use, else /etc/novuss/novuss.toml for root and the user's own for others.
    yes
        Take the default for every question; fails where there is something wrong.
    """
    talk = TerminalTalk(takes_defaults=yes)
    with Bench(talk, config) as bench:
        talk.say(f"settings: {bench.file}")
        for number, name in enumerate(steps or STEPS, 1):
            talk.say(f"\n{number}. {name}: {(STEPS[name].__doc__ or '').strip()}")
            while True:
                try:
                    STEPS[name](bench)
                except NovussError as error:
                    bench.close_source()
                    talk.say(f"WRONG: {error}")
                    if yes:
                        raise
                    answer = talk.ask("again (r), leave it (s), stop here (q)", "r")
                else:
                    answer = talk.ask("on (Enter), again (r), stop here (q)", "on")
                if answer != "r":
                    break
            if answer == "q":
                break
        talk.say(f"\nsettings are in {bench.file}; novuss doctor looks at everything, novuss watch begins")
