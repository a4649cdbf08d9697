"""Messages → snapshot → what the page is told, without a network."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rules.errors import WrongUsage
from scoreboard.catchup import BEYOND, LAST_MESSAGES, CatchUp
from scoreboard.feed import BrokerAddress
from scoreboard.ruling_view import margin_view, ruling_view, state_of
from scoreboard.state import KEPT_RULINGS, Snapshot, Unreadable, apply, connected, slotted
from scoreboard.view import clock_view, discs_view, link_view, match_view, section_view
from scoreboard.words import LANGS, WORDS, pick_lang, word
from tests.scoreboard import board_game as game


def fold(*messages: tuple[str, Any], start: Snapshot | None = None, at_s: float = 100.0) -> Snapshot:
    now = start or connected(Snapshot(), broker=True)
    for name, record in messages:
        payload = record if isinstance(record, bytes) else msgspec.json.encode(record)
        now, _ = apply(now, name, payload, retained=False, at_s=at_s)
    return now


PLAYING = (("status", game.ONLINE), ("match", game.MATCH), ("discs", game.seen(game.mid_game())))


def test_every_word_is_there_in_every_language_with_the_same_parts() -> None:
    for key, by_lang in WORDS.items():
        assert set(by_lang) == set(LANGS), key
        parts = {lang: sorted(p.split("}")[0] for p in text.split("{")[1:]) for lang, text in by_lang.items()}
        assert len({tuple(p) for p in parts.values()}) == 1, key


@pytest.mark.parametrize(
    ("asked", "accept", "lang"),
    [
        ("de", "", "de"),
        (None, "de-AT,en;q=0.5", "de"),
        (None, "fr,en-GB;q=0.8", "en"),
        ("xx", "", "lv"),
        (None, "", "lv"),
        ("EN", "lv", "en"),
    ],
)
def test_language_is_the_address_s_then_the_browser_s(asked: str | None, accept: str, lang: str) -> None:
    assert pick_lang(asked, accept) == lang


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("discs", b"{"),
        ("discs", b'{"discs":[{"kind":"blue","x_mm":0,"y_mm":0,"sigma_mm":1}]}'),
        ("match", b"[1]"),
        ("ruling", b"\xff\xfe"),
        ("ruling", b'{"entry":1,"kind":"stroke","faults":5}'),
        ("ruling", b'{"entry":1,"kind":"stroke","place":[{"x_mm":"far"}]}'),
        ("ruling", b'{"entry":1,"kind":"stroke","margins":[1]}'),
        ("match", b'{"last_ruling":{"entry":"one"}}'),
        ("status", b"12"),
        ("status", b"online"),
    ],
)
def test_what_cannot_be_read_changes_nothing(name: str, payload: bytes) -> None:
    before = fold(*PLAYING)
    with pytest.raises(Unreadable):
        apply(before, name, payload, retained=False, at_s=0.0)


@pytest.mark.parametrize("record", [{}, {"players": 3, "turn": 7, "sets_won": {"S": -1, "N": "x"}}, {"players": {"Q": {}, "S": 1}}])
def test_a_match_with_odd_fields_is_shown_with_what_it_has(record: dict[str, Any]) -> None:
    view = match_view(fold(("match", record)), "en")
    assert [team["name"] for team in view["teams"]] == ["Player N", "Player S"]
    assert [team["sets"] for team in view["teams"]] == [0, 0]


def test_before_the_first_stroke_pieces_are_counted_on_the_table() -> None:
    ready = {**game.MATCH, "status": "ready", "on_table": {"S": 0, "N": 0}}
    view = match_view(fold(("match", ready), ("discs", game.seen(game.start_position()))), "en")
    assert [team["left"] for team in view["teams"]] == [8, 8]


def test_other_topics_of_the_table_are_nothing_to_the_board() -> None:
    now, changed = apply(Snapshot(), "health", b"not even JSON", retained=True, at_s=0.0)
    assert (now, changed) == (Snapshot(), ())


def test_link_says_the_first_thing_that_is_wrong() -> None:
    now = Snapshot()
    assert link_view(now, 0.0)["why"] == "broker"
    now = connected(now, broker=True)
    assert link_view(now, 0.0)["why"] == "waiting"
    now = fold(*PLAYING, start=now)
    assert link_view(now, 102.9)["why"] == ""
    assert link_view(now, 103.1)["why"] == "picture"
    assert link_view(fold(("status", game.OFFLINE), start=now), 100.1)["why"] == "monitor"
    assert link_view(connected(now, broker=False), 100.1)["why"] == "broker"


def test_a_retained_picture_alone_is_no_live_picture() -> None:
    now, _ = apply(fold(("status", game.ONLINE)), "discs", msgspec.json.encode(game.seen(game.mid_game())), retained=True, at_s=1.0)
    assert now.picture_at_s is None
    assert len(now.discs) == 12


def test_discs_keep_their_drawing_by_id_and_without_ids_by_nearness() -> None:
    first = fold(("discs", game.seen(game.mid_game())))
    slots = {s.disc.id: s.slot for s in first.discs}
    moved = fold(("discs", game.seen(list(reversed(game.wander(game.mid_game(), 5))))), start=first)
    assert {s.disc.id: s.slot for s in moved.discs} == slots

    anonymous = [msgspec.structs.replace(s.disc, id=None) for s in first.discs]
    start = slotted((), anonymous)
    nudged = [msgspec.structs.replace(d, x_mm=d.x_mm + 6.0) for d in reversed(anonymous)]
    then = {(s.slot, round(s.disc.y_mm, 3)) for s in slotted(start, nudged)}
    assert then == {(s.slot, round(s.disc.y_mm, 3)) for s in start}


def test_more_discs_than_exist_are_not_drawn() -> None:
    many = [(f"r{n}", "red", float(n), 0.0) for n in range(20)]
    assert len(fold(("discs", game.seen(many))).discs) == 16


def test_dark_close_and_light_are_marked_for_the_player_at_turn_only() -> None:
    marks = {row[0]: row[3] for row in discs_view(fold(*PLAYING))["discs"]}
    assert marks[1] == 1, "r2 lies inside the circle"
    assert marks[2] == 1, "r3 lies in the own zone"
    assert marks[4] == 2, "r5 lies 0.2 mm from the limit at sigma 0.15"
    assert marks[0] == marks[3] == 0
    assert all(mark == 0 for slot, mark in marks.items() if slot >= 16), "nothing of the opponent's or the striker"


def test_a_repeated_ruling_counts_once_and_order_is_that_of_the_seq() -> None:
    now = fold(*[("ruling", game.ruling(seq)) for seq in (1, 2, 2, 5, 3)])
    assert [r["seq"] for r in now.rulings] == [1, 2, 3, 5]
    now = fold(*[("ruling", game.ruling(seq)) for seq in range(1, 60)])
    assert len(now.rulings) == KEPT_RULINGS


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    "record", [game.ruling(), game.fault(), game.review(), game.no_call(), game.set_won(), game.warning(), game.resolved()]
)
def test_every_ruling_has_words_in_every_language(record: dict[str, Any], lang: Any) -> None:
    now = fold(*PLAYING, ("ruling", record))
    view = ruling_view(now, lang)
    assert view["title"]
    for section in ("link", "discs", "match", "ruling"):
        msgspec.json.encode(section_view(section, now, lang, 0.0))


@pytest.mark.parametrize("status", ["review", "no_call"])
def test_uncertain_is_never_no_fault(status: str) -> None:
    assert state_of(game.ruling(1, status=status)) != "lawful"
    assert state_of(game.ruling(1, lawful=None)) == "no_call"


def test_a_review_with_nulls_where_its_readings_differ_is_shown() -> None:
    nulls = dict.fromkeys(("faults", "turn", "next_reason", "penalty_pieces", "place", "restore", "pocketed", "debt", "on_table"))
    view = ruling_view(fold(*PLAYING, ("ruling", {**game.review(), **nulls})), "en")
    assert view["state"] == "review"
    assert view["lines"][0][0].startswith("Red piece dark")


def test_margin_is_the_nearest_one_with_twice_its_sigma() -> None:
    margins = [
        {"id": "r1", "zone": "circle", "clearance_mm": 9.0, "sigma_mm": 0.2},
        {"id": "r5", "zone": "S", "clearance_mm": -0.2, "sigma_mm": 0.2},
    ]
    view = margin_view(game.ruling(margins=margins), "en")
    assert view is not None
    assert (view["how"], view["value"], view["text"]) == ("close", "−0.2\u00a0±\u00a00.4\u00a0mm", "Red piece · zone line")
    assert margin_view(game.ruling(margins=margins[:1]), "en")["how"] == "dark"  # type: ignore[index]
    assert margin_view(game.ruling(margins=[{"id": "r1", "zone": "S", "clearance_mm": -300.0, "sigma_mm": 0.2}]), "en") is None


def test_a_judge_s_word_shows_what_it_changed() -> None:
    view = ruling_view(fold(*PLAYING, ("ruling", game.warning())), "en")
    assert (view["state"], view["title"]) == ("note", "Judge's decision")
    view = ruling_view(fold(*PLAYING, ("ruling", game.resolved())), "en")
    assert (view["state"], view["tag"]) == ("fault", "corrected")


def test_a_series_counts_what_fell_in_a_row_and_survives_corrections() -> None:
    now = fold(*PLAYING, *[("ruling", game.ruling(seq)) for seq in (1, 2, 3)])
    assert [team["series"] for team in match_view(now, "en")["teams"]] == ["", "Series 3"]
    assert match_view(fold(("ruling", game.fault(4)), start=now), "en")["teams"][1]["series"] == ""
    taken_back = {**game.warning(5), "refolded": [{"entry": 2, "ruling": {**game.ruling(2), "turn": "passes"}}]}
    assert match_view(fold(("ruling", taken_back), start=now), "en")["teams"][1]["series"] == ""


def test_guided_placing_counts_down_and_turns_done() -> None:
    place = {"place": [{"kind": "red", "id": "r9", "x_mm": 0.0, "y_mm": 485.0, "clause": "17.3"}], "restore": []}

    def line(x_mm: float, y_mm: float) -> tuple[str, bool]:
        now = fold(("discs", game.seen([("r9", "red", x_mm, y_mm)])), ("ruling", game.fault(2, **place)))
        view = ruling_view(now, "en")
        return view["lines"][0]

    assert line(300.0, 0.0) == ("Place a red piece (17.3)", False)
    assert line(3.0, 485.0) == ("Place a red piece (17.3) – still 3.0\u00a0mm toward\u00a0W", False)
    assert line(0.3, 484.8) == ("Place a red piece (17.3) – in place", True)


def test_ways_to_name_a_broker() -> None:
    address = BrokerAddress.parse("mqtt://anna:p%40ss@[::1]:2883")
    assert (address.host, address.port, address.username, address.password) == ("::1", 2883, "anna", "p@ss")
    assert BrokerAddress.parse("broker.local").port == 1883
    assert "p@ss" not in repr(address)
    login = {"NOVUSS_MQTT_USER": "board", "NOVUSS_MQTT_PASSWORD": "secret"}
    address = BrokerAddress.parse("mqtts://hall.local?ca=/etc/novuss/ca.crt", login)
    assert (address.username, address.password, address.ca_file, address.port) == ("board", "secret", "/etc/novuss/ca.crt", 8883)
    with pytest.raises(WrongUsage, match="scheme"):
        BrokerAddress.parse("http://broker")
    with pytest.raises(WrongUsage, match="host name"):
        BrokerAddress.parse("mqtt://")


def test_catching_up_asks_for_the_end_then_for_gaps() -> None:
    asked: list[tuple[int, int | None]] = []
    catch_up = CatchUp(lambda request: asked.append((request["from"], request["to"])), "me")

    def answer(**record: Any) -> tuple[str, bytes] | None:
        return catch_up.result(msgspec.json.encode({"correlation": "me", **record}))

    catch_up.monitor_online()
    answer(**{"from": BEYOND, "to": 100, "next": None, "done": True})
    assert asked == [(BEYOND, None), (100 - LAST_MESSAGES + 1, None)]
    assert answer(seq=100, topic="ruling", payload={"seq": 100}) == ("ruling", b'{"seq":100}')
    assert answer(seq=100, topic="judge", payload={}) is None, "only what the table itself numbered"
    assert catch_up.result(b'{"correlation":"other","seq":1,"topic":"ruling","payload":{}}') is None
    catch_up.seen(101)
    catch_up.seen(104)
    assert asked[2:] == [(102, 103)]
    catch_up.monitor_online()
    assert asked[3:] == [(105, None)]


def test_words_fill_their_parts() -> None:
    assert word("set_of", "lv", n=2, of=5) == "2. sets no 5"


def test_colours_of_words_stand_out_enough_to_be_read() -> None:
    """WCAG AA: 4.5 to 1 for every colour that words have on every ground they stand on, in both themes."""
    css = (Path(__file__).parents[2] / "scoreboard" / "static" / "board.css").read_text(encoding="utf-8")
    dark = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", css.split("[data-theme")[0]))
    light = {**dark, **dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", css.split('[data-theme="light"] {')[1].split("}")[0]))}
    grounds = {"ink": ("bg", "bg-2", "card"), "ink-2": ("bg", "bg-2", "card"), "accent-ink": ("accent",), "fault": ("card", "bg", "bg-2")}
    grounds |= dict.fromkeys(("lawful", "review", "no-call", "won"), ("card",))
    for theme in (dark, light):
        for ink, on in grounds.items():
            for ground in on:
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme is light)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_clock_counts_from_its_message_or_from_the_time_in_a_retained_one() -> None:
    record = {"span": "stroke", "limit_s": 30.0, "run": True, "at": "2026-11-30T10:00:00.000Z", "by": "Zane"}
    payload = msgspec.json.encode(record)
    later = datetime(2026, 11, 30, 10, 0, 12, tzinfo=UTC)
    live, changed = apply(Snapshot(), "clock", payload, retained=False, at_s=100.0, at=later)
    assert changed == ("clock",)
    assert clock_view(live, "en", 104.0) == {"run": True, "what": "Stroke 30 s", "left_s": 26.0, "limit_s": 30.0}
    kept, _ = apply(Snapshot(), "clock", payload, retained=True, at_s=100.0, at=later)
    assert clock_view(kept, "en", 100.0)["left_s"] == 18.0
    assert clock_view(kept, "en", 135.0)["left_s"] == -17.0
    assert clock_view(kept, "en", 2000.0) == {"run": False}, "a clock that nobody stopped is forgotten"
    ended, _ = apply(kept, "clock", msgspec.json.encode(record | {"run": False}), retained=False, at_s=101.0)
    assert clock_view(ended, "en", 101.0) == {"run": False}
    for stepped in (later + timedelta(hours=12), later - timedelta(hours=12)):
        again, _ = apply(live, "clock", payload, retained=True, at_s=110.0, at=stepped)
        assert clock_view(again, "en", 110.0)["left_s"] == 20.0, "a reconnection after a step of wall time changes no timer"
    odd, _ = apply(Snapshot(), "clock", msgspec.json.encode(record | {"at": "yesterday", "span": "tea"}), retained=True, at_s=1.0, at=later)
    assert clock_view(odd, "en", 1.0)["what"] == ""


def test_what_is_to_be_placed_is_what_the_table_s_state_says() -> None:
    wanted = {"kind": "red", "id": "r9", "x_mm": 0.0, "y_mm": 485.0, "clause": "17.3"}
    matched = {**game.MATCH, "placing": [wanted], "guided_placing": True}
    view = ruling_view(fold(("match", matched), ("ruling", game.fault(2))), "en")
    assert [said for said, _ in view["to_do"]] == ["Place a red piece (17.3)"], "what was waved through is no longer asked for"
    assert view["waits"] == "The next stroke waits"
    view = ruling_view(fold(("match", {**matched, "placing": []}), ("ruling", game.fault(2))), "en")
    assert (view["to_do"], view["targets"], view["waits"]) == ([], [], "")


def test_statistics_that_are_none_are_left_out() -> None:
    with pytest.raises(Unreadable, match="stats"):
        apply(Snapshot(), "stats", b'{"players":7}', retained=True, at_s=0.0)
