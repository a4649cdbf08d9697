"""The command line: `novuss COMMAND`. Exit status 0 done, 1 the input cannot be used (one line says why), 2 wrong usage.

Machine output goes to stdout only, everything else to stderr. Commands are imported when called, so `--help` is quick and a
missing camera library never hinders `novuss rule`.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Final

from cyclopts import App, CycloptsError

from device.memory import share_heaps
from rules.errors import NovussError

_HELP: Final = """Table monitor for Novuss: sees every disc, works out what was touched first, rules by the federation's book.

Without a camera, `novuss watch` plays on a virtual table and shows it on http://localhost:8080.
"""
_COMMANDS: Final = {
    "watch": ("device.commands.watch:watch", "Watch a table and rule on every stroke: the main job."),
    "config": ("device.commands.config:config", "Print the settings in force, each with where it came from."),
    "setup": ("device.commands.setup:setup", "Set a table up step by step, in a terminal or a browser."),
    "doctor": ("device.commands.doctor:doctor", "Look at everything that can be wrong, and say what to do about it."),
    "calibrate": ("device.commands.calibrate:calibrate", "Find the table in a picture by its own lines."),
    "lens": ("device.commands.lens:lens", "Measure a lens from pictures of a printed board, or print the board."),
    "detect": ("device.commands.detect:detect", "Find every disc in one picture."),
    "strokes": ("device.commands.strokes:strokes", "Turn a video into stroke facts, one JSON line each."),
    "rule": ("device.commands.rule:rule", "Rule on a match log, one JSON ruling per entry."),
    "sheet": ("device.commands.sheet:sheet", "Write the match sheet of a log: HTML to print, JSON or CSV."),
    "stats": ("device.commands.stats:stats", "Write a match in figures and pictures: kinds of strokes, speeds, series, rests."),
    "board": ("device.commands.board:board", "Serve the scoreboard of a table on any broker."),
    "evidence": ("device.commands.evidence:app", "Clips and stills of rulings: list, export, protect, quota."),
    "broker": ("device.commands.broker:broker", "Write what a mosquitto for the hall needs: users, access list, certificate."),
    "hall": ("device.commands.hall:hall", "Serve one page with every table of a broker."),
    "schema": ("device.commands.schema:schema", "Print the AsyncAPI document of the messages, or one record's JSON Schema."),
    "table": ("device.commands.table:app", "Look at one table, on a broker or in its match log."),
}
_STDIN: Final = {"-": "/dev/stdin"}  # the option parser would take a lone dash for an option


# Pixels; 400 MB. A picture's header may promise anything, and OpenCV makes room for it first. It reads this when it is first imported.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 27))
# Small matrices only: threads of the linear algebra library would fight over the cores that capture and drawing need.
# It reads these when numpy is first imported, which is after this module.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


def build_app(asked: str | None = None) -> App:
    """The command tree; every command is named by its import path and loaded on use.

    The command that is `asked` for tells about itself by its own text; the others only need their line in the list.
    """
    app = App(name="novuss", help=_HELP, help_format="markdown", version=version("novuss"), end_of_options_delimiter="--")
    for name, (where, summary) in _COMMANDS.items():
        app.command(where, name=name, help=None if name == asked else summary)
    return app


def _say(error: Exception) -> None:
    print(f"novuss: {' '.join(str(error).split())}", file=sys.stderr)


def _give_up_output() -> None:
    """Let go of what standard output did not take; else the interpreter tries again at exit, complains, and leaves with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> None:
    """Entry point of the console script; always leaves through SystemExit with a status of the contract."""
    share_heaps()
    tokens = [_STDIN.get(token, token) for token in (sys.argv[1:] if argv is None else argv)]
    try:
        build_app(tokens[0] if tokens else None)(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()  # what cannot be written is found out here, not at exit
    except CycloptsError as error:
        _say(error)
        print("novuss: see `novuss --help`, or `novuss COMMAND --help`", file=sys.stderr)
        sys.exit(2)
    except NovussError as error:
        _say(error)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _give_up_output()  # its reader went away
        sys.exit(1)
    except OSError as error:
        # Everything that a command opens by name has its own error; what is left is standard output on a full disk.
        _say(OSError(f"output cannot be written ({error.strerror or error})"))
        _give_up_output()
        sys.exit(1)
    sys.exit(0)
