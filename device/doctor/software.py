"""What it runs on: packages that fit together, the networks that load."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from typing import Final

from device.doctor.finding import Finding

PACKAGES: Final = ("numpy", "opencv-python-headless", "scipy", "onnxruntime", "msgspec", "paho-mqtt", "av", "picamera2")
# The lists of dependencies in pyproject.toml are what pip enforces; these are those whose other versions behave differently.
OPENCV_MAJOR: Final = 5
PAHO_MAJOR: Final = 2
_LOAD: Final = """from vision.discs.eyes import eyes
from vision.occluders import Occluders
raise SystemExit(eyes() is None or Occluders.load() is None)"""
IMPORT_S: Final = 60.0  # a slow card reads the library for some seconds; one that hangs is as good as none


def packages() -> Finding:
    """Versions that are known to work, and one OpenCV only."""
    found = {name: _version(name) for name in PACKAGES}
    text = f"Python {sys.version.split()[0]}, " + ", ".join(f"{name} {number}" for name, number in found.items() if number)
    clashes = sorted({name for one in distributions() if (name := str(one.metadata["Name"]).lower()).startswith("opencv-")})
    if len(clashes) > 1:
        remedy = f"{sys.executable} -m pip uninstall {' '.join(clashes)}; then install opencv-python-headless again"
        return Finding("packages", "wrong", f"several OpenCV packages break each other: {', '.join(clashes)}", remedy)
    for name, major in (("opencv-python-headless", OPENCV_MAJOR), ("paho-mqtt", PAHO_MAJOR)):
        number = found[name]
        if number is None or int(number.split(".")[0]) != major:
            remedy = f"{sys.executable} -m pip install '{name}>={major},<{major + 1}'"
            return Finding("packages", "wrong", f"{name} is {number or 'missing'}, {major}.x is needed; {text}", remedy)
    return Finding("packages", "ok", text)


def model() -> Finding:
    """Whether the networks load; tried in a process of its own, because some builds die with an illegal instruction on older Pis."""
    remedy = f"{sys.executable} -m pip install --force-reinstall onnxruntime; until then discs and hands are seen by geometry alone"
    command = [sys.executable, "-c", _LOAD]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=IMPORT_S, check=False)
    except subprocess.TimeoutExpired:
        return Finding("model", "warning", f"the networks did not load within {IMPORT_S:.0f} s", remedy)
    if tried.returncode < 0:
        return Finding("model", "warning", f"onnxruntime dies with signal {-tried.returncode} on this processor", remedy)
    if tried.returncode:
        why = tried.stderr.strip().splitlines()
        return Finding("model", "warning", f"a network does not load: {why[-1] if why else 'no reason given'}", remedy)
    return Finding("model", "ok", f"the networks load (onnxruntime {_version('onnxruntime')})")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
