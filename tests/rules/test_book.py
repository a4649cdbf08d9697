"""The table of clauses against the code, the words and the page written from it."""

import re
from pathlib import Path

import pytest

import rules
from rules.book import AUTOMATIC, CLAUSES, as_markdown
from rules.words import CLAUSES as WORDS
from rules.words import PHRASES

ROOM = Path(rules.__file__).parent
PAGE = ROOM.parent / "docs" / "clauses.md"
NUMBER = re.compile(r"\b(\d{1,2}\.\d{1,2}(?:\.[a-t])?)\b")
CODE = {f.stem: f.read_text(encoding="utf-8") for f in ROOM.glob("*.py")}


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == as_markdown(), "docs/clauses.md is old; its first lines say how to write it again"


def test_no_clause_twice():
    numbers = [c.number for c in CLAUSES]
    assert sorted(set(numbers)) == sorted(numbers)


@pytest.mark.parametrize("clause", [c for c in CLAUSES if c.code], ids=lambda c: c.number)
def test_the_code_of_a_clause_is_where_the_table_says(clause):
    assert clause.code in CODE
    if clause.who == AUTOMATIC:
        text = CODE[clause.code]
        section = clause.number.rsplit(".", 1)[0] if clause.number.count(".") == 2 else clause.number.split(".")[0]
        assert clause.number in text or section in text


def sanctions_named_in_code():
    found = set()
    for text in CODE.values():
        found |= set(re.findall(r'"(\d{1,2}\.\d{1,2}(?:\.[a-t])?)"', text))
    return sorted(found - {"16.1", "17.1"})  # the code sorts faults by these beginnings


@pytest.mark.parametrize("number", sanctions_named_in_code())
def test_every_clause_that_the_code_names_is_in_the_table_and_has_words(number):
    numbers = {c.number for c in CLAUSES}
    assert number in numbers or f"{number}.a" in numbers
    for lang, words in WORDS.items():
        assert number in words, lang


def test_the_three_languages_say_the_same_things():
    assert WORDS["lv"].keys() == WORDS["en"].keys() == WORDS["de"].keys()
    assert PHRASES["lv"].keys() == PHRASES["en"].keys() == PHRASES["de"].keys()
    for key, phrase in PHRASES["en"].items():
        fields = set(re.findall(r"{(\w+)}", phrase))
        assert fields == set(re.findall(r"{(\w+)}", PHRASES["lv"][key])) == set(re.findall(r"{(\w+)}", PHRASES["de"][key])), key


def test_every_sanction_of_sixteen_to_nineteen_has_words():
    for clause in CLAUSES:
        if re.fullmatch(r"1[6-9]\.1\.[a-t]", clause.number):
            assert clause.number in WORDS["lv"], clause.number
