"""The networks with the oldest runtime that pyproject.toml allows, in an environment of its own: `make test-oldest-runtime`; minutes."""

import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "build" / "oldest-runtime"
# What vision stands on; each bound in pyproject.toml names a version that exists, so that it is the oldest one.
STANDS_ON = ("numpy", "opencv-python-headless", "scipy", "msgspec", "onnxruntime")
TESTS = ("test_runtime.py", "test_eyes.py", "test_occluders.py")
ALIKE = 1e-4  # as near as the exported networks are to the trained ones
ANSWER = """
import sys
import numpy as np
from vision.discs.eyes import BATCH, MODEL
from vision.discs.patches import RAYS, RINGS
from vision.occluders import CELLS, MODEL as OCCLUDERS
from vision.runtime import open_model

rng = np.random.default_rng(11)
rings = rng.normal(-0.5, 0.5, (BATCH, 3, RINGS, RAYS)).astype(np.float32)
seen = rng.uniform(0, 1, (BATCH, 2)).astype(np.float32)
cells = rng.normal(0, 0.8, (4, 5, CELLS, CELLS)).astype(np.float32)
discs = open_model(MODEL).run(["kind", "pose", "shift", "log_sigma"], {"rings": rings, "seen": seen})
np.savez(sys.argv[1], *discs, *open_model(OCCLUDERS).run(["logit"], {"cells": cells}))
"""


def oldest():
    """The requirements of vision, each at its lower bound."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    bounds = dict(line.split(",")[0].split(">=") for line in declared if ">=" in line)
    return [f"{name}=={bounds[name]}" for name in STANDS_ON]


def base():
    """A Python that the oldest versions were built for; from 3.13 on newer ones are the oldest, and pip finds none at the bounds."""
    return sys.executable if sys.version_info < (3, 13) else shutil.which("python3.12") or shutil.which("python3.11")


def run(*command):
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python():
    """The interpreter of that environment, which is kept until a bound changes."""
    if base() is None:
        pytest.skip("the oldest versions need Python 3.11 or 3.12")
    wanted = [*oldest(), *(f"{name}=={version(name)}" for name in ("pytest", "hypothesis"))]  # the tests' own settings ask for both
    made_of, interpreter = ENVIRONMENT / "made-of.txt", ENVIRONMENT / "bin" / "python"
    if not made_of.exists() or made_of.read_text(encoding="utf-8").split() != wanted:
        run(base(), "-m", "venv", "--clear", ENVIRONMENT)
        run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
        made_of.write_text("\n".join(wanted), encoding="utf-8")
    return interpreter


def test_the_oldest_runtime_is_the_one_that_answers(python):
    said = run(python, "-c", "import onnxruntime; print(onnxruntime.__version__)").strip()
    assert f"onnxruntime=={said}".startswith(oldest()[-1])


def test_the_oldest_runtime_answers_as_the_tested_one(python, tmp_path):
    files = [tmp_path / "oldest.npz", tmp_path / "tested.npz"]
    for interpreter, file in zip((python, sys.executable), files, strict=True):
        run(interpreter, "-c", ANSWER, file)
    with np.load(files[0]) as one, np.load(files[1]) as other:
        worst = {name: float(np.abs(one[name] - other[name]).max()) for name in one.files}
    assert len(worst) == 5
    assert max(worst.values()) < ALIKE, worst
    print(f"largest difference between the two runtimes: {max(worst.values()):.1e}")


def test_everything_told_of_the_networks_holds_with_the_oldest_runtime(python):
    run(python, "-m", "pytest", "-p", "no:cacheprovider", *(Path(__file__).with_name(name) for name in TESTS))
