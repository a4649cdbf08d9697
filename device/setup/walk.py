"""Step after step with one person, whoever they are talked to by."""

from __future__ import annotations

from collections.abc import Sequence

from device.setup.bench import Bench
from device.setup.steps import STEPS
from rules.errors import NovussError


def walk(bench: Bench, names: Sequence[str], *, stops_at_errors: bool = False) -> None:
    """The named steps; after each the person goes on, does it again or stops. With `stops_at_errors` what is wrong is raised."""
    talk = bench.talk
    talk.say(f"settings: {bench.file}")
    for number, name in enumerate(names, 1):
        talk.say(f"\n{number}. {name}: {(STEPS[name].__doc__ or '').strip()}")
        while True:
            try:
                STEPS[name](bench)
            except NovussError as error:
                bench.close_source()
                talk.say(f"WRONG: {error}")
                if stops_at_errors:
                    raise
                answer = talk.ask("again (r), leave it (s), stop here (q)", "r")
            else:
                answer = talk.ask("on (Enter), again (r), stop here (q)", "on")
            if answer != "r":
                break
        if answer == "q":
            break
    talk.say(f"\nsettings are in {bench.file}; novuss doctor looks at everything, novuss watch begins")
