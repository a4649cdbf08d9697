"""`python -m tests.fuzz SECONDS [TARGET...]`: each target in a process of its own, so that a crash of a library is seen; figures as JSON.

An input that breaks something is kept in out/fuzz/ and named; `python -m tests.fuzz again FILE TARGET` runs it once more.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.fuzz.mutate import Mutator

OUT = Path("out/fuzz")
# Seconds for one input: everything here answers in milliseconds.
HANGS_S = 20.0
# Bytes; a picture's header may promise any size.
MEMORY = 4 << 30


def fuzz(name: str, seconds: float, seed: int) -> None:
    """One target until the time is over; the input at hand is always on disk."""
    import device.cli  # noqa: F401 - what the command line sets before anything else is imported
    from tests.fuzz.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    OUT.mkdir(parents=True, exist_ok=True)
    target = TARGETS[name]
    inputs = Mutator(target.seeds(), seed)
    count, slowest_s, started = 0, 0.0, time.monotonic()
    with ExitStack() as stack:
        take = target.open(stack)
        at_hand = os.open(OUT / f"{name}.at-hand", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        while (began := time.monotonic()) - started < seconds:
            data = inputs.next()
            os.pwrite(at_hand, data, 0)
            os.ftruncate(at_hand, len(data))
            faulthandler.dump_traceback_later(HANGS_S, exit=True)
            take(data)
            faulthandler.cancel_dump_traceback_later()
            count += 1
            slowest_s = max(slowest_s, time.monotonic() - began)
    (OUT / f"{name}.at-hand").unlink()
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    figures = {"seconds": round(time.monotonic() - started), "inputs": count, "slowest_s": round(slowest_s, 3), "memory_mb": memory_mb}
    print(json.dumps({"target": name, "seed": seed} | figures), flush=True)


def main(words: list[str]) -> int:
    """Exit status 1 where something broke."""
    from tests.fuzz.targets import TARGETS

    match words:
        case ["again", file, name]:
            with ExitStack() as stack:
                TARGETS[name].open(stack)(Path(file).read_bytes())
            return 0
        case ["one", name, seconds, seed]:
            fuzz(name, float(seconds), int(seed))
            return 0
        case [seconds, *names]:
            return int(sum(not _fuzzed(name, seconds) for name in names or TARGETS) > 0)
        case _:
            raise SystemExit(__doc__)


def _fuzzed(name: str, seconds: str) -> bool:
    """One target in a process of its own; whether nothing broke."""
    seed = int(time.time())
    done = subprocess.run([sys.executable, "-m", "tests.fuzz", "one", name, seconds, str(seed)], check=False)
    if done.returncode == 0:
        return True
    kept = OUT / f"{name}-{seed}.broken"
    (OUT / f"{name}.at-hand").replace(kept)
    print(json.dumps({"target": name, "exit": done.returncode, "input": str(kept), "seed": seed}), flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
