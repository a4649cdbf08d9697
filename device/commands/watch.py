"""`novuss watch`: the main job, from frames to rulings on MQTT and the scoreboard."""

from __future__ import annotations

import logging
import re
import signal
import time
from pathlib import Path
from typing import Annotated, Final, Literal, cast

import msgspec
from cyclopts import Parameter
from platformdirs import user_data_path
from rich.console import Console
from rich.logging import RichHandler

from calibration.camera import Calibration, Camera, load_calibration
from calibration.coarse import South
from calibration.lens import load_lens
from device import topics
from device.evidence.clerk import Clerk
from device.evidence.recorder import Recorder
from device.evidence.shelf import Shelf
from device.first_look import LookSettings, check, look, ready
from device.messaging.address import parse_url
from device.messaging.judge import JudgeRequest
from device.monitor import Monitor, Publish
from device.referee import NewMatch, Referee
from device.service import Service
from device.sources.choose import PICAMERA, VIRTUAL, default_source, open_source
from device.sources.frame import Source
from device.storage.lines import UNREADABLE
from device.table_session import SessionSettings, TableSession
from rules.errors import InputUnusable, NovussError, WrongUsage
from rules.facts import Entry, Match
from rules.fold import State
from rules.ruling import Ruling
from rules.table import Side
from rules.words import Lang, say

_TABLE_NAME: Final = re.compile(r"[\w-][\w.-]{0,63}")
_LAST_PORT: Final = 65535
_console = Console(stderr=True, highlight=False, soft_wrap=True)


def watch(
    source: str | None = None,
    *,
    lens: Path | None = None,
    calibration: Path | None = None,
    camera: str | None = None,
    south: South = "bottom",
    match: Path | None = None,
    ruleset: Literal["lnf-2008", "lnf-current", "casual"] = "lnf-2008",
    sets: int = 5,
    first_turn: Side | None = None,
    record: Path | None = None,
    data: Path | None = None,
    mqtt: str | None = None,
    no_mqtt: Annotated[bool, Parameter(negative="")] = False,
    table: str = "table",
    host: str = "127.0.0.1",
    port: int = 8080,
    no_board: Annotated[bool, Parameter(negative="")] = False,
    evidence: Path | None = None,
    no_evidence: Annotated[bool, Parameter(negative="")] = False,
    open_browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
    lang: Lang = "en",
    seed: int | None = None,
    fast: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Watch a table and rule on every stroke: the main job.

    Without a source the camera of a Raspberry Pi is used, elsewhere the virtual table, which plays by itself. Rulings go to the match
    log, to MQTT (a built-in broker when none is named) and to the scoreboard. Ctrl-C ends it.

    Examples:

    - `novuss watch`: the virtual table on http://localhost:8080
    - `novuss watch clip.mp4 --lens lens.json --match match.json --record log.jsonl`: a recording, to its end
    - `novuss watch picamera --calibration cal.json --mqtt mqtt://hall.local --table 7`: a table in a hall

    Parameters
    ----------
    source
        `picamera`, `virtual`, a video file, or a folder of stills.
    lens
        Lens file (`novuss lens`); the table is then found by its lines.
    calibration
        Calibration file (`novuss calibrate`); nothing needs to be found.
    camera
        Name of the camera when there is no lens file: gs, hq, hqbin, module3.
    south
        Where side S lies in the picture.
    match
        File with a match entry; without one a start position begins a match.
    ruleset
        Rules of a match that a start position begins: lnf-2008, lnf-current, casual.
    sets
        Sets of such a match.
    first_turn
        Side with the first turn in such a match.
    record
        Match log; by default in the data folder of this table.
    data
        Folder for log and outbox.
    mqtt
        Broker, e.g. mqtt://user@hall.local:1883, mqtts://..., ws://...; password in NOVUSS_MQTT_PASSWORD.
    no_mqtt
        Neither broker nor scoreboard, only the log.
    table
        Name of this table in the topics.
    host
        Address that the scoreboard listens on.
    port
        Port of the scoreboard; the next free one is used when it is taken.
    no_board
        Serve no scoreboard.
    evidence
        Folder for clips and stills of the rulings; by default beside the log. `novuss evidence` lists, exports and protects them.
    no_evidence
        Keep no clips and stills.
    open_browser
        Open the scoreboard in a browser.
    lang
        Language of the rulings on this terminal.
    seed
        Virtual table: which match is played; by default another one each time.
    fast
        Virtual table: as fast as it can be worked through instead of in real time.
    """
    if mqtt is not None and no_mqtt:
        raise WrongUsage("--mqtt and --no-mqtt exclude each other")
    if evidence is not None and no_evidence:
        raise WrongUsage("--evidence and --no-evidence exclude each other")
    if lens is not None and calibration is not None:
        raise WrongUsage("--lens and --calibration exclude each other: a calibration holds its lens")
    if not _TABLE_NAME.fullmatch(table):
        raise WrongUsage(f"--table {table!r}: it becomes part of topics and folder names; letters, digits, '.', '_' and '-', 64 at most")
    if sets < 1:
        raise WrongUsage(f"--sets {sets}: a match has at least one set")
    if not 0 <= port <= _LAST_PORT:
        raise WrongUsage(f"--port {port}: a port is 0 to {_LAST_PORT}")
    if mqtt is not None:
        parse_url(mqtt)  # wrong usage is said before anything is written
    logging.basicConfig(level=logging.WARNING, handlers=[RichHandler(console=_console, show_path=False)], format="%(message)s")
    chosen = source or default_source()
    known = None if calibration is None else load_calibration(calibration)
    look_settings = LookSettings(None if lens is None else load_lens(lens), camera, south)
    given = None if match is None else read_match(match)
    game = int(time.time()) if seed is None else seed
    opened = open_source(chosen, seed=game, realtime=not fast)
    try:
        log, outbox, beside = _files(chosen, table, record, data)
        settings = SessionSettings(
            table=table,
            log=log,
            outbox=outbox,
            evidence=None if no_evidence else evidence or beside,
            mqtt=mqtt,
            with_mqtt=not no_mqtt,
            with_board=not no_board,
            host=host,
            port=port,
            open_browser=open_browser,
        )
        live = chosen in {PICAMERA, VIRTUAL}
        job = _Job(opened, settings, look_settings, NewMatch(ruleset, sets, first_turn), lang, patient=fast or not live)
        job.run(chosen, known, given, live=live, game=game)
    finally:
        opened.close()


def _files(chosen: str, table: str, record: Path | None, data: Path | None) -> tuple[Path, Path, Path]:
    """Match log, outbox and evidence: matches of a camera, the virtual table and recordings share no log unless somebody says so."""
    if record is not None:
        outbox, evidence = (
            (data / name if data is not None else record.with_name(f"{record.name}.{name}")) for name in ("outbox", "evidence")
        )
        return record, outbox, evidence
    home = data or user_data_path("novuss") / table
    if chosen == PICAMERA:
        return home / "match.jsonl", home / "outbox", home / "evidence"
    if chosen == VIRTUAL:
        return home / "virtual" / "match.jsonl", home / "outbox", home / "virtual" / "evidence"
    log = home / "recordings" / f"{Path(chosen).stem}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
    return log, home / "outbox", home / "recordings" / "evidence"


class _Job:
    """One run of the command."""

    def __init__(
        self, source: Source, settings: SessionSettings, look_settings: LookSettings, new_match: NewMatch, lang: Lang, *, patient: bool
    ) -> None:
        self._source = source
        self._settings = settings
        self._look = look_settings
        self._new_match = new_match
        self._lang = lang
        self._patient = patient
        self._monitor: Monitor | None = None
        self._rulings = 0

    def run(self, chosen: str, known: Calibration | None, given: Match | None, *, live: bool, game: int) -> None:
        with TableSession(self._settings, self._judge, _console.print) as session:
            publish = (lambda *_: None) if session.publisher is None else session.publisher.publish_state
            calibration = self._find_table(chosen, live=live) if known is None else self._checked(chosen, known, live=live)
            publish(topics.CALIBRATION, calibration)
            camera = ready(calibration, self._source)
            recorder = self._recorder(camera, publish)
            clerk = Clerk(recorder)
            referee = Referee(session.log, session.recovered, session.outbox, publish, self._new_match, self._on_ruling, clerk)
            if given is None and chosen == VIRTUAL:
                given = msgspec.structs.replace(self._source.match, id=f"virtual-{game}-{int(time.time())}")  # type: ignore[attr-defined]
            if given is not None:
                referee.begin(given, resume=chosen == PICAMERA)
            service = Service(lambda: session.publisher is None or session.publisher.connection.connected)
            self._monitor = Monitor(self._source, camera, referee, publish, service, self._settings.log.parent, recorder, live=live)
            self._end_on_signals(self._monitor)
            if chosen == VIRTUAL:
                _console.print(f"virtual table, match {game} (--seed {game} plays it again)")
            _console.print(f"watching {self._source.name}; Ctrl-C ends it" if live else f"watching {self._source.name}")
            self._monitor.run()
            if not live and (left := session.drain()):
                raise NovussError(f"{left} messages could not be sent ({session.outbox.waiting} wait in {self._settings.outbox})")
            if referee.state is None:
                raise InputUnusable(
                    f"{self._source.name}: nothing was ruled on: no match was given (--match) and no start position was seen"
                )
            timing = self._monitor.timing
            _console.print(f"{timing.frames} frames watched, {timing.dropped} dropped, {self._rulings} rulings")

    def _recorder(self, camera: Camera, publish: Publish) -> Recorder | None:
        """What films the table; none where it shall not be, or where its folder cannot be used: refereeing goes on."""
        folder = self._settings.evidence
        if folder is None:
            return None
        recorder = Recorder(Shelf(folder), camera, self._settings.table, publish, patient=self._patient)
        try:
            recorder.start()
        except NovussError as error:
            _console.print(f"no clips and stills: {error}")
            return None
        _console.print(f"evidence: {folder}")
        return recorder

    def _find_table(self, chosen: str, *, live: bool) -> Calibration:
        own_lens = getattr(self._source, "lens", None)
        settings = self._look
        if settings.lens is None and own_lens is not None:
            settings = LookSettings(own_lens, settings.camera_name, settings.south)
        if live:
            return look(self._source, settings, _console.print)
        first = open_source(chosen)  # a recording is looked at and then watched from its beginning
        try:
            return look(first, settings, _console.print)
        finally:
            first.close()

    def _checked(self, chosen: str, known: Calibration, *, live: bool) -> Calibration:
        """A calibration made elsewhere, once the first frames show that the table is where it says."""
        first = self._source if live else open_source(chosen)
        try:
            check(first, known)
        finally:
            if not live:
                first.close()
        return known

    def _judge(self, request: JudgeRequest) -> None:
        if self._monitor is None:
            request.refuse("the table has not been found yet; send it again in a moment")
        else:
            self._monitor.on_judge(request)

    def _on_ruling(self, ruling: Ruling, state: State) -> None:
        self._rulings += 1
        ruled = getattr(self._source, "ruled", None)
        if ruled is not None:
            ruled(msgspec.to_builtins(ruling))
        _console.print(f"{ruling.entry:>3}  {say(ruling, self._lang, 'short', state.names)}")

    @staticmethod
    def _end_on_signals(monitor: Monitor) -> None:
        def stop(_number: int, _frame: object) -> None:
            monitor.stop()
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C does not wait

        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)


def read_match(path: Path) -> Match:
    """A match entry from a file; InputUnusable with path and reason when there is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputUnusable(f"{path}: match file cannot be read ({error.strerror})") from error
    try:
        plain = msgspec.json.decode(data)
        wrapped = plain if isinstance(plain, dict) and "match" in plain else {"match": plain}
        entry = msgspec.convert(wrapped, Entry)
    except UNREADABLE as error:
        raise InputUnusable(f"{path}: not a match entry ({error})") from error
    return cast("Match", entry.match)
