"""From the outbox to a real receiver on loopback: everything once, in order, whatever the receiver does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.doctor.network import webhook as looked_at
from device.messaging.backoff import Backoff
from device.settings import Settings
from device.webhook import Courier, Receiver, open_news
from device.webhook.aside import NAME
from device.webhook.courier import TRIES
from rules.errors import InputUnusable
from tests.parts.brokers import LOOPBACK, wait_until
from tests.webhook.conftest import Club

SettingsOf = Callable[..., Settings]
NEWS = {"event": "set", "table": "7", "match_id": "m1", "set": {"winner": 'Žanis "Z" O\'Neil'}}
QUICK = (0.01, 0.02)


def delivered(folder: Path, receiver: Receiver, until: Callable[[], object], new: int = 0) -> None:
    """One run of the courier, ended once `until` is so."""
    with open_news(folder) as waiting:
        for _ in range(new):
            waiting.put("set", NEWS)
        with Courier(waiting, receiver.post, folder, Backoff(*QUICK)) as courier:
            assert wait_until(lambda: until() and waiting.waiting == 0), courier.figures()


def identities(club: Club, path: str = "taken") -> list[str]:
    """Of what it said yes to, or of all that it was asked."""
    return [headers["Idempotency-Key"] for where, headers, _ in club.asked if where == path]


def set_aside(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / NAME).read_text(encoding="utf-8").splitlines()]


def taken(club: Club) -> list[int]:
    return [news["seq"] for news in club.taken()]


def test_news_come_in_order_with_an_identity_that_stays(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    club.answers = [500, 200, 503, 404, 200]
    delivered(tmp_path, Receiver(settings_of(url=club.url)), lambda: len(taken(club)) == 3, new=3)
    assert taken(club) == [1, 2, 3]
    asked = identities(club, "/results?club=1")
    epoch = asked[0].removeprefix("7/m1/").removesuffix("-1")
    assert asked == [f"7/m1/{epoch}-{seq}" for seq in (1, 1, 2, 2, 2, 3)]
    assert club.asked[0][1]["Content-Type"] == "application/json"


@pytest.mark.parametrize("lost", [".", "outbox.jsonl"])
def test_an_outbox_that_is_lost_gives_no_identity_again(club: Club, settings_of: SettingsOf, tmp_path: Path, lost: str) -> None:
    """A receiver that knows the identity takes the new one for done: it would never hear of that set."""
    receiver, folder = Receiver(settings_of(url=club.url)), tmp_path / "webhook"
    delivered(folder, receiver, lambda: len(taken(club)) == 2, new=2)
    shutil.rmtree(folder) if lost == "." else (folder / lost).unlink()
    (folder / "sent").unlink(missing_ok=True)  # written without fsync: a power cut may take it
    delivered(folder, receiver, lambda: len(taken(club)) == 4, new=2)
    assert taken(club) == [1, 2, 1, 2]
    assert len(set(identities(club))) == 4


def test_what_waits_in_an_outbox_of_an_older_version_keeps_its_identity(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    (tmp_path / "outbox.jsonl").write_text('{"next":5,"last_key":"","schema":"novuss.outbox/1"}\n', encoding="utf-8")
    delivered(tmp_path, Receiver(settings_of(url=club.url)), lambda: len(taken(club)) == 1, new=1)
    assert identities(club) == ["7/m1/5"]


def test_a_receiver_that_is_away_over_a_restart_gets_everything_once(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    receiver = Receiver(settings_of(url=club.url))
    club.close()
    with open_news(tmp_path) as waiting:
        waiting.put("set", NEWS)
        with Courier(waiting, receiver.post, tmp_path, Backoff(*QUICK)) as courier:
            assert wait_until(lambda: "does not answer" in str(courier.figures()["problem"]))
            assert courier.figures()["waiting"] == 1
    club.open()
    delivered(tmp_path, receiver, lambda: len(taken(club)) == 2, new=1)
    delivered(tmp_path, receiver, lambda: len(taken(club)) == 3, new=1)
    assert taken(club) == [1, 2, 3]


def test_what_is_refused_again_and_again_does_not_hold_up_what_follows(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    club.answers = [422] * TRIES
    delivered(tmp_path, Receiver(settings_of(url=club.url)), lambda: taken(club) == [2], new=2)
    (kept,) = set_aside(tmp_path)
    assert kept["news"]["seq"] == 1
    assert kept["why"] == f"{LOOPBACK} answers 422 Unprocessable Entity"


@pytest.mark.parametrize("template", ["{{ set.winner.upper() }}", "{{ '\\ud800' if set is none else set.winner }}"])
def test_news_that_a_template_cannot_tell_do_not_hold_up_what_follows(
    club: Club, settings_of: SettingsOf, tmp_path: Path, caplog: pytest.LogCaptureFixture, template: str
) -> None:
    """Such a template was tried again for ever, and no result came through any more."""
    (tmp_path / "result.txt").write_text(template, encoding="utf-8")
    folder = tmp_path / "webhook"
    with open_news(folder) as waiting:
        for news in (NEWS | {"event": "match", "set": None}, NEWS):
            waiting.put(news["event"], news)
        with Courier(waiting, Receiver(settings_of(url=club.url, template="result.txt")).post, folder, Backoff(*QUICK)) as courier:
            assert wait_until(lambda: waiting.waiting == 0), courier.figures()
            assert courier.figures() == {"waiting": 0, "refused": 1, "problem": None}
    assert len(club.asked) == 2
    (kept,) = set_aside(folder)
    assert (kept["news"]["event"], "result.txt: cannot be filled in" in kept["why"]) == ("match", True)
    assert f"set aside in {folder / NAME}: {kept['why']}" in caplog.text


def test_a_template_says_what_is_posted_and_a_mended_one_counts_at_once(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    template = tmp_path / "result.json"
    template.write_text('{"who": {{ set.winer | tojson }}}', encoding="utf-8")
    receiver = Receiver(settings_of(url=club.url, template="result.json"))
    # Slow enough that the template is mended before the last try.
    with open_news(tmp_path / "w") as waiting, Courier(waiting, receiver.post, tmp_path / "w", Backoff(1.0, 1.0)) as courier:
        waiting.put("set", NEWS)
        assert wait_until(lambda: "result.json: cannot be filled in" in str(courier.figures()["problem"]))
        template.write_text('{"who": {{ set.winner | tojson }}}', encoding="utf-8")
        assert wait_until(lambda: club.taken() == [{"who": NEWS["set"]["winner"]}])  # type: ignore[index]
        assert wait_until(lambda: courier.figures() == {"waiting": 0, "refused": 0, "problem": None})


def test_a_template_reaches_nothing_but_its_news(settings_of: SettingsOf, tmp_path: Path, club: Club) -> None:
    (tmp_path / "t.txt").write_text("{{ ''.__class__.__mro__[1].__subclasses__() }}", encoding="utf-8")
    with pytest.raises(InputUnusable, match=r"t\.txt: cannot be filled in"):
        Receiver(settings_of(url=club.url, template="t.txt")).post(NEWS, "1")


def test_secrets_travel_as_headers_and_stand_in_files_that_others_cannot_read(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    headers, address = tmp_path / "headers", tmp_path / "address"
    headers.write_text("Authorization: Bearer s3cret\nX-Table: 7\n", encoding="utf-8")
    address.write_text(club.url + "\n", encoding="utf-8")
    receiver = Receiver(settings_of(url_file="address", headers_file="headers"))
    headers.chmod(0o640)
    address.chmod(0o644)
    with pytest.raises(InputUnusable, match="address: can be read by everybody"):
        receiver.check()
    address.chmod(0o640)
    receiver.post(NEWS, "1")
    assert club.asked[0][1]["Authorization"] == "Bearer s3cret"
    headers.chmod(0o644)
    with pytest.raises(InputUnusable, match="headers: can be read by everybody"):
        receiver.check()


def test_a_header_of_ones_own_takes_the_place_of_ours_however_it_is_written(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    (tmp_path / "headers").write_text("content-type: application/vnd.club+json\n", encoding="utf-8")
    (tmp_path / "headers").chmod(0o600)
    Receiver(settings_of(url=club.url, headers_file="headers")).post(NEWS, "1")
    kinds = [value for name, value in club.asked[0][1].items() if name.lower() == "content-type"]
    assert kinds == ["application/vnd.club+json"]


def test_a_match_with_any_name_is_told(club: Club, settings_of: SettingsOf, tmp_path: Path) -> None:
    """A header takes neither Cyrillic nor line ends; what cannot be sent would hold up everything behind it."""
    receiver = Receiver(settings_of(url=club.url))
    for number, name in enumerate(("Финал 1", "a\nb", "50 %"), 1):
        with open_news(tmp_path) as waiting, Courier(waiting, receiver.post, tmp_path, Backoff(*QUICK)) as courier:
            waiting.put("set", NEWS | {"match_id": name})
            assert wait_until(lambda number=number: taken(club) == list(range(1, number + 1)), 5), courier.figures()  # type: ignore[misc]
    names = [identity.rsplit("/", 1)[0] for identity in identities(club)]
    assert names == ["7/%D0%A4%D0%B8%D0%BD%D0%B0%D0%BB%201", "7/a%0Ab", "7/50%20%25"]


def test_a_fault_of_ours_is_told_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tries: list[str] = []

    def fails_once(_: object, identity: str) -> None:
        tries.append(identity)
        if len(tries) == 1:
            raise RuntimeError("a fault of ours")

    with open_news(tmp_path) as waiting, Courier(waiting, fails_once, tmp_path, Backoff(*QUICK)) as courier:
        waiting.put("set", NEWS)
        assert wait_until(lambda: waiting.waiting == 0, 5), courier.figures()
    assert len(tries) == 2
    assert len(set(tries)) == 1
    assert "a fault of ours" in caplog.text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"url": "ftp://host/x"}, "write http"),
        ({"url": "http://"}, "write http"),
        ({"url": "http://host:x/"}, "write http"),
        ({"url": "http://user:pass@host/"}, "no user and password"),
        ({"url": "http://host/a b"}, "write http"),
        ({"url": "http://host/\r\nX: y"}, "write http"),
        ({"url": "http://host/", "headers_file": "none"}, "none: cannot be read"),
        ({"url": "http://host/", "headers_file": "bad-headers"}, "bad-headers:2: is no header"),
        ({"url": "http://host/", "template": "bad.json"}, "is no template"),
    ],
)
def test_what_cannot_be_used_is_told_at_the_start(settings_of: SettingsOf, tmp_path: Path, values: dict[str, str], said: str) -> None:
    (tmp_path / "bad-headers").write_text("A: b\nno header\n", encoding="utf-8")
    (tmp_path / "bad-headers").chmod(0o600)
    (tmp_path / "bad.json").write_text("{% if %}", encoding="utf-8")
    settings = settings_of(**values)
    with pytest.raises(InputUnusable, match=said):
        Receiver(settings).check()
    assert looked_at(settings).level == "wrong"


def test_the_doctor_tells_whether_somebody_listens(club: Club, settings_of: SettingsOf) -> None:
    assert looked_at(Settings()).level == "skipped"
    assert looked_at(settings_of(url=club.url)).level == "ok"
    club.close()
    assert looked_at(settings_of(url=club.url)).level == "warning"
    assert club.asked == []
