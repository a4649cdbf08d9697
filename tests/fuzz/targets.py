"""What is fuzzed: each target takes one input after another and raises what a fault raises; refusals in a sentence are no faults."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec

from calibration.camera import load_calibration
from calibration.lens import load_lens
from device import topics
from device.commands.watch import read_match
from device.evidence.shelf import Shelf
from device.images import read_image
from device.interface import schema_of
from device.messaging import parse_url
from device.messaging.judge import JudgeDesk
from device.messaging.link import Incoming
from device.messaging.replay import ReplayDesk
from device.referee import NewMatch, Referee
from device.settings import load
from device.sources.video import VideoSource
from device.storage import MatchLog, Outbox
from device.storage.match_log import read_lines
from device.webhook import Receiver
from rules.errors import Bug, LogUnusable, NovussError
from rules.fold import State, match_state, start, step
from rules.log import rulings
from scoreboard.catchup import CatchUp
from scoreboard.evidence_view import evidence_view
from scoreboard.hub import BOARD_SECTIONS
from scoreboard.state import Section, Snapshot, Unreadable, apply
from scoreboard.view import section_view
from scoreboard.words import LANGS
from tests.fuzz import seeds
from tests.fuzz.servers import Board, Broker
from tests.fuzz.videos import videos
from tests.messaging import game
from tests.parts.json_schema import problems

Take = Callable[[bytes], None]


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """A refusal in one sentence is the right answer; a fault of our own is none."""
    try:
        yield
    except Bug:
        raise
    except NovussError as error:
        if not str(error).strip():
            raise Bug("a refusal says why") from error


@dataclass(frozen=True)
class Target:
    """`open` gives what takes the inputs; it lives until the stack closes."""

    open: Callable[[ExitStack], Take]
    seeds: Callable[[], Sequence[bytes]]


def _folder(stack: ExitStack) -> Path:
    memory = Path("/dev/shm")
    return Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)))


def _replay(stack: ExitStack) -> Take:
    outbox = stack.enter_context(Outbox.open(_folder(stack)))
    for number in range(30):
        outbox.put_entry(f"k{number}", [(topics.STROKE, {"x": number}), (topics.RULING, {"x": number})])
    desk = ReplayDesk(outbox)
    schema = {"anyOf": [schema_of("ReplayMessage"), schema_of("ReplayDone")]}

    def take(data: bytes) -> None:
        desk.receive(Incoming("t", data, retained=False, correlation=None))
        answers = 0
        while (payload := desk.next_payload()) is not None:
            answers += 1
            assert list(problems(msgspec.json.decode(payload), schema, schema)) == []
        assert answers

    return take


class _Court:
    """A referee behind a judge's desk; a new one after so many commands, checked against the fold of its log."""

    AFTER = 200

    def __init__(self, stack: ExitStack) -> None:
        self._folder = _folder(stack)
        self._schema = schema_of("JudgeResult")
        self._taken = 0
        self._answers: list[bytes] = []
        self._open = stack.enter_context(ExitStack())
        self._begin()

    def _begin(self) -> None:
        self._open.close()
        for file in self._folder.glob("**/*"):
            if file.is_file():
                file.unlink()
        log, recovered = MatchLog.open(self._folder / "m.jsonl")
        self._open.enter_context(log)
        outbox = self._open.enter_context(Outbox.open(self._folder / "outbox"))
        self._referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None)
        self._referee.begin(game.MATCH, resume=False)
        for number in range(1, 4):
            self._referee.enter(game.entry(number))
        self._desk = JudgeDesk(self._referee.judge, lambda payload, _: self._answers.append(payload))

    def take(self, data: bytes) -> None:
        """One payload on `judge`."""
        self._answers.clear()
        self._desk.receive(Incoming("t", data, retained=False, correlation=None))
        assert len(self._answers) == 1, self._answers
        answer = msgspec.json.decode(self._answers[0])
        assert list(problems(answer, self._schema, self._schema)) == []
        assert "a fault of novuss itself" not in answer.get("error", ""), answer
        self._taken += 1
        if self._taken % self.AFTER == 0:
            state: State | None = None
            for line in read_lines(self._folder / "m.jsonl").lines:
                state = start(line.value.match) if line.value.match is not None else step(_there(state), line.value)[0]
            assert match_state(_there(state)) == match_state(_there(self._referee.state))
            self._begin()


def _orders(stack: ExitStack) -> Take:
    court, replay = _Court(stack), _replay(stack)

    def take(data: bytes) -> None:
        court.take(data)
        replay(data)

    return take


def _there(state: State | None) -> State:
    assert state is not None
    return state


def _board(_: ExitStack) -> Take:
    catch_up = CatchUp(lambda request: msgspec.json.encode(request) and None, "x")
    sections: tuple[Section, ...] = (*BOARD_SECTIONS, "cards", "stats")
    now = Snapshot(broker=True)
    count = 0

    def take(data: bytes) -> None:
        nonlocal now, count
        name, _, payload = data.partition(b" ")
        topic = name.decode(errors="replace")
        count += 1
        if count % 500 == 0:
            now = Snapshot(broker=True)
        if topic == topics.REPLAY_RESULT.name:
            again = catch_up.result(payload)
            if again is None:
                return
            topic, payload = again
        with contextlib.suppress(Unreadable):
            now, _ = apply(now, topic, payload, retained=count % 2 == 0, at_s=float(count))
        for lang in LANGS:
            for section in sections:
                is_film = section == "evidence"
                msgspec.json.encode(
                    evidence_view(now, lang, "", is_here=True) if is_film else section_view(section, now, lang, float(count))
                )

    return take


def _settings(stack: ExitStack) -> Take:
    file = _folder(stack) / "novuss.toml"

    def take(data: bytes) -> None:
        file.write_bytes(data)
        text = data.decode(errors="replace").replace("\0", "")
        with refusals():
            load(file, {})
        with refusals():
            load(None, {"NOVUSS_BOARD_PORT": text, "NOVUSS_CAMERA_GAIN": text[:8]})

    return take


def _logs(stack: ExitStack) -> Take:
    folder = _folder(stack)

    def take(data: bytes) -> None:
        with contextlib.suppress(LogUnusable):
            for _ in rulings(data.split(b"\n")):
                pass
        path = folder / "m.jsonl"
        path.write_bytes(data)
        with contextlib.suppress(LogUnusable), MatchLog.open(path)[0] as log:
            log.append(game.STROKE)
            assert read_lines(path).damage is None
        for left in folder.iterdir():
            left.unlink()

    return take


def _files(stack: ExitStack) -> Take:
    folder = _folder(stack)
    (folder / "piece" / "0000001-3f9a2c41").mkdir(parents=True)
    shelf = Shelf(folder / "piece")
    (folder / "novuss.toml").write_text('[webhook]\nurl = "http://h/"\nheaders_file = "file"\n', encoding="utf-8")
    receiver = Receiver(load(folder / "novuss.toml", {}).settings)
    box = folder / "box"
    box.mkdir()

    def take(data: bytes) -> None:
        file = folder / "file"
        file.write_bytes(data)
        file.chmod(0o600)
        with refusals():
            parse_url(data.decode(errors="replace"), {})
        for read in (load_lens, load_calibration, read_match, lambda _: receiver.check()):
            with refusals():
                read(file)
        (folder / "piece" / "0000001-3f9a2c41" / "evidence.json").write_bytes(data)
        shelf.get("0000001-3f9a2c41")
        (box / "outbox.jsonl").write_bytes(data)
        (box / "sent").write_bytes(data[::-1][:2000])
        with refusals(), Outbox.open(box) as outbox:
            outbox.put("ruling", {"x": 1})
            assert outbox.read(1, 10**6)[-1].seq == outbox.next_seq - 1
        for left in box.glob("*"):
            left.unlink()

    return take


def _pictures(stack: ExitStack) -> Take:
    file = _folder(stack) / "picture"

    def take(data: bytes) -> None:
        file.write_bytes(data)
        with refusals():
            read_image(file)

    return take


def _videos(stack: ExitStack) -> Take:
    file = _folder(stack) / "clip.mp4"

    def take(data: bytes) -> None:
        file.write_bytes(data)
        with refusals(), contextlib.closing(VideoSource(file)) as source:
            for _ in range(4):
                if source.read() is None:
                    break

    return take


TARGETS = {
    "orders": Target(_orders, lambda: seeds.JUDGE + seeds.REPLAYS),
    "board": Target(_board, seeds.board_messages),
    "http": Target(lambda stack: stack.enter_context(Board()).take, seeds.requests),
    "broker": Target(lambda stack: stack.enter_context(Broker()).take, seeds.mqtt_packets),
    "settings": Target(_settings, lambda: seeds.SETTINGS),
    "logs": Target(_logs, lambda: (seeds.log_lines(), *seeds.log_lines().splitlines())),
    "files": Target(_files, lambda: seeds.FILES + seeds.URLS),
    "pictures": Target(_pictures, seeds.pictures),
    "videos": Target(_videos, videos),
}
