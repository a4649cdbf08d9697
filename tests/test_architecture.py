"""The arrows between rooms, as docs/architecture.md draws them: an import that is not allowed there fails here."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("rules", "calibration", "vision", "models", "device", "scoreboard", "virtual_table")
EVERYTHING = {"*"}

# room -> what it may import: other rooms (or single modules of them) and third-party packages
ALLOWED: dict[str, set[str]] = {
    "rules": {"msgspec"},
    "calibration": {"rules.table", "rules.errors", "numpy", "cv2", "scipy", "msgspec"},
    "vision": {"calibration", "rules.table", "rules.errors", "rules.facts", "numpy", "cv2", "scipy", "onnxruntime", "msgspec"},
    "models": {
        *("rules.table", "vision.discs", "vision.occluders", "vision.runtime", "virtual_table"),
        *("numpy", "cv2", "torch", "numba", "onnx", "onnxruntime", "rich"),
    },
    "device": EVERYTHING,
    "scoreboard": {
        *("rules", "device.topics"),
        *("paho", "starlette", "uvicorn", "jinja2", "msgspec", "anyio"),
    },
    "virtual_table": {"rules.table", "rules.errors", "numpy", "cv2"},
}


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide arrows"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names} if module in ROOMS else {module}
    return found


def is_allowed(room: str, module: str) -> bool:
    top = module.split(".", maxsplit=1)[0]
    if top == room or top in sys.stdlib_module_names or ALLOWED[room] is EVERYTHING:
        return True
    return any(module == allowed or module.startswith(f"{allowed}.") for allowed in ALLOWED[room])


@pytest.mark.parametrize("room", ROOMS)
def test_no_arrow_that_the_architecture_does_not_draw(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for module in sorted(imports_of(path))
        if not is_allowed(room, module)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_a_forbidden_arrow(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import os\ndef f():\n    from vision import detect\n", encoding="utf-8")
    assert [m for m in imports_of(bad) if not is_allowed("scoreboard", m)] == ["vision.detect"]
    assert is_allowed("scoreboard", "device.topics")
    assert not is_allowed("scoreboard", "device.watch")


def test_picamera_is_imported_only_in_its_own_module() -> None:
    users = [
        p for room in ROOMS for p in (ROOT / room).rglob("*.py") if any(m.startswith(("picamera2", "libcamera")) for m in imports_of(p))
    ]
    assert {str(p.relative_to(ROOT)) for p in users} <= {"device/sources/picamera.py"}


def test_no_file_is_longer_than_the_house_allows() -> None:
    suffixes = {".py", ".js", ".css", ".html", ".sh"}
    rooms = (*ROOMS, "tests", "benchmarks", "systemd")
    long = [
        f"{path.relative_to(ROOT)}: {lines} lines"
        for room in rooms
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in suffixes and (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    ]
    assert not long, "\n".join(long)
