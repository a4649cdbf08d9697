"""`novuss evidence` as people run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from device.cli import main
from device.evidence import Shelf
from tests.evidence.test_shelf import add

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["evidence", *words])
        out, err = capfdbinary.readouterr()
        return int(ended.value.code or 0), out.decode(), err.decode()

    return run


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    shelf = Shelf(tmp_path, floor_mb=0)
    shelf.claim()
    names = [add(shelf, shelf.new_name(), 400_000).evidence for _ in range(3)]
    shelf.release()
    return names


def test_list_protect_and_quota_are_json(run: Run, names: list[str], tmp_path: Path) -> None:
    where = ("--folder", str(tmp_path))
    status, out, _ = run("list", *where)
    assert status == 0
    assert [msgspec.json.decode(line)["evidence"] for line in out.splitlines()] == names
    assert msgspec.json.decode(run("protect", names[0], "--by", "Ilze", *where)[1])["protected"] == ["judge"]
    assert msgspec.json.decode(run("quota", "1", *where)[1]) == {
        "pieces": 2, "protected": 1, "used_mb": 0.8, "protected_mb": 0.4, "quota_mb": 1,
    }  # fmt: skip
    assert Shelf(tmp_path).names() == [names[0], names[2]]
    assert msgspec.json.decode(run("protect", names[0], "--off", *where)[1])["protected"] == []


def test_export_is_one_file_without_anything_from_elsewhere(run: Run, names: list[str], tmp_path: Path) -> None:
    file = tmp_path / "one.html"
    assert run("export", names[0], "-o", str(file), "--lang", "lv", "--folder", str(tmp_path))[0] == 0
    page = file.read_text(encoding="utf-8")
    assert "data:video/mp4;base64," in page
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert 'src="/' not in page


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("list", "--folder", "/nowhere"), 1, "no evidence is kept there"),
        (("export", "../../etc/passwd", "--folder", "{}"), 1, "no evidence named"),
        (("protect", "0000009-00000000", "--folder", "{}"), 1, "no evidence named"),
        (("quota", "0", "--folder", "{}"), 2, "at least 1 MB"),
        (("quota", "many", "--folder", "{}"), 2, ""),
    ],
)
def test_what_cannot_be_is_one_line_and_a_status(run: Run, tmp_path: Path, words: tuple[str, ...], status: int, said: str) -> None:
    found, out, err = run(*(word.format(tmp_path) for word in words))
    assert (found, out) == (status, "")
    assert said in err
    assert "Traceback" not in err


def test_watch_takes_one_of_two(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["watch", "virtual", "--evidence", "x", "--no-evidence"])
    assert ended.value.code == 2
    assert b"exclude each other" in capfdbinary.readouterr().err


def test_a_name_that_is_none_never_reaches_a_template(names: list[str], tmp_path: Path) -> None:
    from device.evidence.gallery import ShelfGallery

    gallery: Any = ShelfGallery(tmp_path)
    assert gallery.as_html("<script>", "en") is None
