"""What the documents show is what the product takes."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from rules.facts import Entry

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_examples_of_log_entries_can_be_read() -> None:
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", text, flags=re.S)
    objects = [
        line
        for block in blocks
        for line in block.replace("\n ", " ").splitlines()
        if line.startswith(('{"match', '{"stroke', '{"inc', '{"jud'))
    ]
    assert len(objects) == 4
    for line in objects:
        msgspec.json.decode(line, type=Entry)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_make_target_that_the_readme_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z-]+)`?", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, flags=re.M) or target in {"are"}, target
