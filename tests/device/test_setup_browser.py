"""Set-up at a page: for whoever knows the password, with the same steps as in a terminal, and the camera's picture."""

from __future__ import annotations

import _thread
import http.client
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from device.commands.setup import setup
from device.settings import load
from device.setup.browser import BrowserTalk, Left
from tests.device.running import NOVUSS
from tests.parts.brokers import wait_until

PASSWORD = "hinter der Bande"
Start = Callable[..., "Setup"]


class Setup:
    """`novuss setup --browser` as a process of its own."""

    def __init__(self, folder: Path, *steps: str) -> None:
        import os

        self.file = folder / "novuss.toml"
        self._said = folder / "said.txt"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [NOVUSS, "setup", *steps, "--browser", "--port", "0", "--config", str(self.file)],
                stdout=said,
                stderr=said,
                env={**os.environ, "NOVUSS_ADMIN_PASSWORD": PASSWORD, "PYTHONUNBUFFERED": "1"},
            )
        assert wait_until(lambda: "set-up: " in self.said() or self.process.poll() is not None, 60), self.said()
        found = re.search(r"set-up: (http://\S+)", self.said())
        assert found, self.said()
        self.url = found[1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def asks(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes, str]:
        """Status, body and cookie of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        found = answer.status, answer.read(), (answer.getheader("set-cookie") or "").split(";")[0]
        connection.close()
        return found

    def sign_in(self) -> str:
        status, _, cookie = self.asks("POST", "/sign-in", {"password": PASSWORD})
        assert status == 200
        return cookie

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            finally:
                self.process.kill()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Setup] = []

    def begin(*steps: str) -> Setup:
        started.append(Setup(tmp_path, *steps))
        return started[-1]

    yield begin
    for one in started:
        one.stop()


def test_strangers_see_and_change_nothing(start: Start) -> None:
    setup = start("names")
    for path in ("/state", "/picture.jpg", "/report.png"):
        assert setup.asks("GET", path)[0] == 403
    for path in ("/answer", "/enough"):
        assert setup.asks("POST", path, {"number": 1, "text": "x"})[0] == 403
    status, said, cookie = setup.asks("POST", "/sign-in", {"password": "wrong"})
    assert (status, json.loads(said), cookie) == (403, {"error": "wrong password"}, "")
    assert setup.asks("POST", "/sign-in", {"password": PASSWORD}, Origin="http://elsewhere")[0] == 403
    good = {"Cookie": setup.sign_in()}
    assert setup.asks("POST", "/answer", {"number": 1, "text": "x"}, Origin="http://elsewhere", **good)[0] == 403
    for body, status in (("nothing", 400), ({"number": "x"}, 400), ({"number": 1, "text": "y" * 5000}, 413)):
        assert setup.asks("POST", "/answer", body, **good)[0] == status
    page = setup.asks("GET", "/")[1]
    assert b"password" in page
    assert b"camera" not in page


def test_steps_are_answered_over_the_page_and_kept(start: Start) -> None:
    setup = start("names")
    good = {"Cookie": setup.sign_in()}

    def question() -> Any:
        return json.loads(setup.asks("GET", "/state", **good)[1])["question"]

    for word, text in (("Name", "9"), ("Rules", "casual"), ("Sets", ""), ("Board", ""), ("on (Enter)", "")):
        assert wait_until(lambda word=word: (question() or {"text": ""})["text"].startswith(word), 30), setup.said()
        number = question()["number"]
        assert json.loads(setup.asks("POST", "/answer", {"number": number, "text": text}, **good)[1]) == {"taken": True}
        assert json.loads(setup.asks("POST", "/answer", {"number": number, "text": "again"}, **good)[1]) == {"taken": False}
    assert setup.process.wait(60) == 0, setup.said()
    settings = load(setup.file, {}).settings
    assert (settings.table.name, settings.match.ruleset, settings.match.sets) == ("9", "casual", 5)


def test_ctrl_c_ends_it_and_keeps_what_was_set(start: Start) -> None:
    setup = start("names")
    setup.sign_in()
    setup.process.send_signal(signal.SIGINT)
    assert setup.process.wait(30) == 130
    assert "Traceback" not in setup.said()


def test_ctrl_c_as_soon_as_the_steps_begin_ends_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = threading.Thread.start

    def begin_and_interrupt(thread: threading.Thread) -> None:
        begin(thread)
        if thread.name == "setup":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", begin_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        setup("names", browser=True, port=0, config=tmp_path / "novuss.toml")
    assert not [thread for thread in threading.enumerate() if thread.name == "setup"]


def test_ctrl_c_waits_until_the_steps_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, ended = BrowserTalk.done, []

    def slowly(talk: BrowserTalk) -> None:
        time.sleep(0.5)
        done(talk)
        ended.append(True)

    monkeypatch.setattr(BrowserTalk, "done", slowly)
    threading.Timer(1.0, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        setup("names", browser=True, port=0, config=tmp_path / "novuss.toml")
    assert ended


def test_a_talk_that_is_left_tells_the_steps_so() -> None:
    talk = BrowserTalk()
    talk.idle = talk.leave
    with pytest.raises(Left):
        talk.ask("Anybody there?")
    with pytest.raises(Left):
        talk.say("no")


def test_a_page_learns_of_each_picture_of_what_fits() -> None:
    """The table may be looked for again: the first picture is then no longer what was found."""
    talk = BrowserTalk()
    told = [talk.state()["report"]]
    for png in (b"first", b"second"):
        talk.see_report(png)
        told.append(talk.state()["report"])
    assert told == [0, 1, 2]
    assert talk.report == b"second"


def test_a_fault_of_ours_ends_it_as_one_and_the_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import device.commands.setup as command

    talks: list[BrowserTalk] = []

    class Kept(BrowserTalk):
        def __init__(self) -> None:
            super().__init__()
            talks.append(self)

    def breaks(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(command, "walk", breaks)
    monkeypatch.setattr(command, "BrowserTalk", Kept)
    monkeypatch.setattr(command, "LAST_WORDS_S", 0.0)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        command.setup("names", config=tmp_path / "novuss.toml", browser=True, port=0)
    assert talks[0].state()["lines"] == ["WRONG: a fault of ours"]


@pytest.mark.browser
def test_the_virtual_table_is_set_up_in_a_browser(start: Start, chromium: Any) -> None:
    setup = start()
    page = chromium.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(setup.url)
    page.get_by_label("Admin's password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    answers = {"Camera": "virtual", "Name of this table": "7", "Sets": "3"}
    while True:
        # Something is asked, or all is done.
        page.locator("#ask:visible, #done:visible").first.wait_for(timeout=120_000)
        if page.locator("#done").is_visible():
            break
        question = page.locator("#question").inner_text()
        text = next((answer for words, answer in answers.items() if question.startswith(words)), "")
        if question.startswith("on ("):
            if "table:" in page.locator("#said h2").last.inner_text():
                page.wait_for_function("() => document.getElementById('residuals').naturalWidth > 500")
            page.get_by_role("button", name="on", exact=True).click()
        else:
            page.locator("#answer").fill(text)
            page.get_by_role("button", name="Go on").click()
        page.wait_for_function("asked => document.getElementById('question').textContent !== asked || "
                               "document.getElementById('ask').hidden", arg=question)  # fmt: skip
    page.wait_for_function("() => document.getElementById('picture').naturalWidth === 960")
    for words in ("virtual table, 1456x1088", "sharpness", "its lines fit to", "brings its own"):
        assert words in page.locator("#said").inner_text(), words
    assert page.locator("#said .wrong").count() == 0
    assert said == []
    assert setup.process.wait(60) == 0, setup.said()
    settings = load(setup.file, {}).settings
    assert (settings.camera.source, settings.table.name, settings.match.sets) == ("virtual", "7", 3)
    page.close()
