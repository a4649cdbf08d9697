"""Rulings in words: what was seen, the margin, the clause, what follows, and what to lay where."""

import pytest

from rules.log import fold_line
from rules.words import clause_words, say
from tests.rules.logs import incident, judge, lines, match, rule, stroke, touched

NAMES = {"S": "Anna", "N": "Berta"}
BOARD = "r1@150,160 r2@-60,-371~0.05 b1@-150,260 b2@200,-100"


def said(*entries, lang="en", form="short", names=NAMES):
    state, ruling = None, None
    first = () if "match" in entries[0] else (match(),)
    for n, line in enumerate(lines(*first, *entries), 1):
        state, ruling = fold_line(state, line, n)
    return say(ruling, lang, form, names)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (
            "en",
            "Penal stroke: direct stroke onto an opponent's piece, or onto both at once (17.1.b). Penalty piece. "
            "Place red piece r9: at the N rail on the midline (17.3). Berta to play (18.1.a).",
        ),
        (
            "lv",
            "Sodāms sitiens: tiešā sitienā vispirms pretinieka kauliņš vai abi reizē (17.1.b). Soda kauliņš. "
            "Nolikt sarkano kauliņu r9: pie Z apmales uz viduslīnijas (17.3). Sit Berta (18.1.a).",
        ),
        (
            "de",
            "Strafbarer Stoß: direkt auf einen Stein des Gegners oder auf beide zugleich (17.1.b). Strafstein. "
            "Roten Stein r9 auflegen: an die Bande N auf die Mittellinie (17.3). Berta am Stoß (18.1.a).",
        ),
    ],
)
def test_short(lang, text):
    assert said(stroke("S", BOARD, "b1"), lang=lang) == text


@pytest.mark.parametrize(
    ("log", "parts"),
    [
        (
            [stroke("S", BOARD, "r2", "in r2 SE")],
            [
                "Direct stroke, first r2 (own, light).",
                "r2: 3.5 mm from the line (light).",
                "Lawful stroke.",
                "Pocketed: r2.",
                "Anna continues.",
            ],
        ),
        ([stroke("S", BOARD, "rail N", "b1")], ["Off the opposite rail, first b1 (opponent's).", "(17.1.c)"]),
        ([stroke("S", BOARD)], ["no piece touched", "Penal stroke: no lawful first contact (17.1.a)."]),
        ([stroke("S", BOARD, "r1", "in r1 NE", "back 6.5")], ["striker 1.0 mm past the limit", "(18.1.e)"]),
        ([stroke("S", BOARD, "b1", after="b1@0,0")], ["Put b1 back: x -150, y 260 mm (13.6)."]),
        ([stroke("S", BOARD, "r1", "over b1 N")], ["Place black piece b1: in the centre (12.14)."]),
        ([stroke("S", BOARD, "r1", "in * NE")], ["Fault: striker in a pocket (17.1.d)."]),
        ([incident("S", BOARD, {"event": "time", "elapsed_s": 31.0})], ["31 s.", "Note: 30 seconds are over, strike within five (19.3)."]),
        ([incident(None, BOARD + " r5@399,398!", "in r5 NE")], ["No fault.", "Put r5 back"]),
        ([judge("warning", side="N", clause="19.1.a")], ["Warnings: Berta 1."]),
        ([judge("debt_forgotten", side="S")], ["Not possible: 17.4"]),
        ([judge("award_set", side="S")], ["Set to Anna (9.1.j).", "Anna to play."]),
        ([judge("award_match", side="N")], ["Berta wins the match 0:0."]),
        ([judge("end_match")], ["Match drawn 0:0."]),
        ([match(sets=4), judge("warning", side="N", clause="19.1.a"), judge("void", entry=1)], ["Entries 1 change too."]),
        (
            [
                incident("N", BOARD, touched("b1", "N"), after="b1@-155,260"),
                incident("N", BOARD, touched("b2", "N"), after="b2@205,-100"),
                stroke("S", BOARD, "r1"),
            ],
            ["Place black piece b9", "Place black piece b10"],
        ),
    ],
)
def test_full(log, parts):
    text = said(*log, form="full")
    for part in parts:
        assert part in text


def test_replay_interruption_and_debt():
    from tests.rules.test_sets import BOTH_STRUCK, LAST, RAN_OUT

    assert "Set is replayed (20.5)." in said(*BOTH_STRUCK, stroke("S", LAST, "r1", "in r1 NE", "in b1 NW"))
    assert "Series interrupted, Berta to play (20.4)." in said(RAN_OUT)
    from tests.rules.test_places import START

    assert "Debt: Anna 1." in said(stroke("S", START, "b1", after="b1@-105,-440"), form="full")


def test_two_penalty_pieces_and_what_cannot_be_laid():
    twice = rule(stroke("S", BOARD, "b1"), judge("override", entry=1, ruling={"penalty_pieces": 2}))[1]
    assert "Penalty pieces: 2." in say(twice, "en")
    assert "No place for r2 without moving another (12.14)." in say(
        {**twice, "unplaced": [{"id": "r2", "kind": "red", "clause": "12.14"}]}, "en"
    )


def test_reviews_name_each_reading():
    text = said(stroke("S", "r1@150,160 r3@-60,-374.7~0.3 b1@-150,260", "r3"))
    assert text.startswith("Judge decides: if r3 dark: Penal stroke")
    assert " / if r3 light: Lawful stroke." in text
    full = said(stroke("S", "r1@150,160 r3@-60,-374.7~0.3 b1@-150,260", "r3"), form="full")
    assert full.count("r3: 0.2 mm from the line (too close to call).") == 2
    assert "if over the line" in said(stroke("S", BOARD, "r1", "in r1 NE", "back 5.6~0.2"))
    shaken = [stroke("S", BOARD, "r1"), incident(None, BOARD, {"event": "table_shaken", "moved": ["r1"]})]
    assert "if table shaken by nobody" in said(*shaken)
    assert "if table shaken by Anna" in said(*shaken)
    assert "if b1 + r1 at once" in said(stroke("S", BOARD, "b1+r1?0.6"))


def test_without_names_sides_are_named_in_the_language():
    assert said(stroke("S", BOARD, "r1"), lang="de", names={}).endswith("N am Stoß (18.1.a).")
    assert said(stroke("S", BOARD, "r1"), lang="lv", names=None).endswith("Sit Z (18.1.a).")


def test_clause_words():
    assert clause_words("17.1.d", "lv") == "ripa maisiņā"
    assert clause_words("99", "lv") == ""


def test_a_clause_without_words_is_named_by_its_number():
    ruling = rule(judge("award_set", side="S"))[0]
    assert "99.9" in say({**ruling, "faults": [{"clause": "99.9", "side": "S"}]}, "en")


def test_nothing_is_said_of_a_turn_after_the_end():
    assert said(match(sets=1), judge("award_set", side="S"), stroke("S", BOARD, "r1")) == "Note: the match is over (23.1)."
