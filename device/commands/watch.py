"""`novuss watch`: the main job, from frames to rulings on MQTT and the scoreboard."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from cyclopts import Parameter
from platformdirs import user_data_path
from rich.console import Console
from rich.logging import RichHandler

from calibration.camera import Calibration, Camera, load_calibration
from calibration.coarse import South
from calibration.lens import load_lens
from device import topics
from device.camera_wait import wait_for_camera
from device.commands.config import export_login, read
from device.evidence.clerk import Clerk
from device.evidence.recorder import Recorder
from device.evidence.shelf import Shelf
from device.first_look import LookSettings, check, look, ready
from device.messaging.address import parse_url
from device.messaging.judge import JudgeRequest
from device.monitor import Monitor
from device.referee import NewMatch, Referee
from device.service import Service
from device.settings import Loaded, Settings
from device.settings.live import LiveSettings
from device.sources.choose import PICAMERA, VIRTUAL, default_source, open_source
from device.sources.frame import Adjustable, CameraMissing, Source
from device.table_session import SessionSettings, TableSession
from device.webhook import Receiver
from rules.errors import UNREADABLE, Bug, InputUnusable, NovussError
from rules.facts import Entry, Match
from rules.fold import State
from rules.ruling import Ruling
from rules.table import Side
from rules.words import Lang, say

_console = Console(stderr=True, highlight=False, soft_wrap=True)


def watch(
    source: str | None = None,
    *,
    config: Path | None = None,
    lens: Path | None = None,
    calibration: Path | None = None,
    camera: str | None = None,
    south: South | None = None,
    match: Path | None = None,
    ruleset: Literal["lnf-2008", "lnf-current", "casual"] | None = None,
    sets: int | None = None,
    first_turn: Side | None = None,
    record: Path | None = None,
    data: Path | None = None,
    mqtt: str | None = None,
    no_mqtt: Annotated[bool, Parameter(negative="")] = False,
    table: str | None = None,
    host: str | None = None,
    port: int | None = None,
    no_board: Annotated[bool, Parameter(negative="")] = False,
    evidence: Path | None = None,
    no_evidence: Annotated[bool, Parameter(negative="")] = False,
    open_browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
    lang: Lang | None = None,
    seed: int | None = None,
    fast: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Watch a table and rule on every stroke: the main job.

    Without a source the camera of a Raspberry Pi is used, elsewhere the virtual table, which plays by itself. Rulings go to the match
    log, to MQTT (a built-in broker when none is named) and to the scoreboard. Ctrl-C ends it.

    What is not said here comes from NOVUSS_SECTION_KEY in the environment, then from the settings file (`novuss config`).

    Examples:

    - `novuss watch`: the virtual table on http://localhost:8080
    - `novuss watch clip.mp4 --lens lens.json --match match.json --record log.jsonl`: a recording, to its end
    - `novuss watch picamera --calibration cal.json --mqtt mqtt://hall.local --table 7`: a table in a hall

    Parameters
    ----------
    source
        `picamera`, `virtual`, a video file, or a folder of stills.
    config
        Settings file; otherwise NOVUSS_CONFIG, the user's or /etc/novuss/novuss.toml. Its changes are taken over while watching.
    lens
        Lens file (`novuss lens`); the table is then found by its lines.
    calibration
        Calibration file (`novuss calibrate`); nothing needs to be found.
    camera
        Name of the camera when there is no lens file: gs, hq, hqbin, module3.
    south
        Where side S lies in the picture: bottom (default), left, top, right.
    match
        File with a match entry; without one a start position begins a match.
    ruleset
        Rules of a match that a start position begins: lnf-2008 (default), lnf-current, casual.
    sets
        Sets of such a match, or of the virtual table's; 5 by default.
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
        Name of this table in the topics; `table` by default.
    host
        Address that the scoreboard listens on; 127.0.0.1 by default.
    port
        Port of the scoreboard, 8080 by default; the next free one is used when it is taken.
    no_board
        Serve no scoreboard.
    evidence
        Folder for clips and stills of the rulings; by default beside the log. `novuss evidence` lists, exports and protects them.
    no_evidence
        Keep no clips and stills.
    open_browser
        Open the scoreboard in a browser.
    lang
        Language of the rulings on this terminal: en (default), lv, de.
    seed
        Virtual table: which match is played; by default another one each time.
    fast
        Virtual table: as fast as it can be worked through instead of in real time.
    """
    arguments = locals()  # flags by name, before anything else gets one

    environ = dict(os.environ)  # before the login is put there

    def reload() -> Loaded:
        return read(config, arguments, environ)

    loaded = reload()
    settings = loaded.settings
    if settings.mqtt.url is not None:
        parse_url(settings.mqtt.url)  # wrong usage is said before anything is written
    receiver = Receiver(settings) if Receiver.wanted(settings) else None
    if receiver is not None:
        receiver.check()
    logging.basicConfig(level=logging.WARNING, handlers=[RichHandler(console=_console, show_path=False)], format="%(message)s")
    export_login(settings)
    chosen = settings.camera.source or default_source()
    known = None if settings.camera.calibration is None else kept_calibration(settings.camera.calibration)
    look_settings = LookSettings(
        None if settings.camera.lens is None else load_lens(settings.camera.lens), settings.camera.name, settings.table.south
    )
    given = None if settings.match.file is None else read_match(settings.match.file)
    game = int(time.time()) if seed is None else seed

    def opener() -> Source:
        return open_source(chosen, seed=game, realtime=not fast, camera=settings.camera, sets=settings.match.sets)

    opened: Source | CameraMissing
    try:
        opened = opener()
    except CameraMissing as error:
        opened = error
    job: _Job | None = None
    try:
        log, outbox, beside = _files(chosen, settings)
        session = SessionSettings(
            table=settings.table.name,
            log=log,
            outbox=outbox,
            evidence=None if not settings.data.evidence else settings.data.evidence_folder or beside,
            mqtt=settings.mqtt.url,
            with_mqtt=settings.mqtt.enabled,
            with_board=settings.board.enabled,
            host=settings.board.host,
            port=settings.board.port,
            open_browser=open_browser,
            home_assistant=settings.mqtt.home_assistant,
            receiver=receiver,
        )
        live = chosen in {PICAMERA, VIRTUAL}
        job = _Job(opened, opener, session, look_settings, loaded, reload, patient=fast or not live)
        job.run(chosen, known, given, live=live, game=game)
    finally:
        if job is not None:
            job.close()
        elif not isinstance(opened, CameraMissing):
            opened.close()


def kept_calibration(file: Path) -> Calibration:
    """The calibration that set-up made; before that there is none, told apart from a damaged one. Raises `InputUnusable`."""
    with contextlib.suppress(PermissionError):  # which reading it tells in a sentence
        if not file.exists():
            raise InputUnusable(f"{file}: this table has not been set up yet; run `novuss setup`")
    return load_calibration(file)


def _files(chosen: str, settings: Settings) -> tuple[Path, Path, Path]:
    """Match log, outbox and evidence: matches of a camera, the virtual table and recordings share no log unless somebody says so."""
    record, data = settings.data.log, settings.data.folder
    if record is not None:
        outbox, evidence = (
            (data / name if data is not None else record.with_name(f"{record.name}.{name}")) for name in ("outbox", "evidence")
        )
        return record, outbox, evidence
    home = data or user_data_path("novuss") / settings.table.name
    if chosen == PICAMERA:
        return home / "match.jsonl", home / "outbox", home / "evidence"
    if chosen == VIRTUAL:
        return home / "virtual" / "match.jsonl", home / "outbox", home / "virtual" / "evidence"
    log = home / "recordings" / f"{Path(chosen).stem}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
    return log, home / "outbox", home / "recordings" / "evidence"


class _Job:
    """One run of the command."""

    def __init__(
        self,
        source: Source | CameraMissing,
        opener: Callable[[], Source],
        settings: SessionSettings,
        look_settings: LookSettings,
        loaded: Loaded,
        reload: Callable[[], Loaded],
        *,
        patient: bool,
    ) -> None:
        self._held = source
        self._opener = opener
        self._settings = settings
        self._look = look_settings
        self._lang = loaded.settings.table.lang
        self._new_match = new_match(loaded.settings)
        self._live_settings = LiveSettings(loaded, reload, self._take_over, _console.print)
        self._patient = patient
        self._monitor: Monitor | None = None
        self._referee: Referee | None = None
        self._rulings = 0

    @property
    def _source(self) -> Source:
        """The camera, once it is there."""
        if isinstance(self._held, CameraMissing):
            raise Bug("the camera is used before it is there")
        return self._held

    def close(self) -> None:
        """Give the camera back."""
        if not isinstance(self._held, CameraMissing):
            self._held.close()

    def run(self, chosen: str, known: Calibration | None, given: Match | None, *, live: bool, game: int) -> None:
        with TableSession(self._settings, self._judge, _console.print) as session:
            publish = (lambda *_: None) if session.publisher is None else session.publisher.publish_state
            service = Service(lambda: session.publisher is None or session.publisher.connection.connected)
            if isinstance(self._held, CameraMissing):
                folder = self._settings.log.parent
                self._held = wait_for_camera(self._opener, self._held, publish, service, _console.print, folder)
            calibration = self._find_table(chosen, live=live) if known is None else self._checked(chosen, known, live=live)
            publish(topics.CALIBRATION, calibration)
            camera = ready(calibration, self._source)
            recorder = self._recorder(camera, publish)
            clerk = Clerk(recorder)
            entered = (self._new_match, self._on_ruling, clerk, session.news)
            self._referee = referee = Referee(session.log, session.recovered, session.outbox, publish, *entered)
            if given is None and chosen == VIRTUAL:
                given = msgspec.structs.replace(self._source.match, id=f"virtual-{game}-{int(time.time())}")  # type: ignore[attr-defined]
            if given is not None:
                referee.begin(given, resume=chosen == PICAMERA)
            self._monitor = Monitor(
                self._source,
                camera,
                referee,
                publish,
                service,
                self._settings.log.parent,
                recorder,
                live=live,
                figures=lambda: self._figures() | ({} if session.courier is None else {"webhook": session.courier.figures()}),
            )
            self._end_on_signals(self._monitor)
            if chosen == VIRTUAL:
                _console.print(f"virtual table, match {game} (--seed {game} plays it again)")
            _console.print(f"watching {self._source.name}; Ctrl-C ends it" if live else f"watching {self._source.name}")
            with self._live_settings:
                self._monitor.run()
            if not live and (left := session.drain()):
                raise NovussError(f"{left} messages could not be sent ({session.outbox.waiting} wait in {self._settings.outbox})")
            if referee.state is None:
                raise InputUnusable(
                    f"{self._source.name}: nothing was ruled on: no match was given (--match) and no start position was seen"
                )
            timing = self._monitor.timing
            _console.print(f"{timing.frames} frames watched, {timing.dropped} dropped, {self._rulings} rulings")

    def _take_over(self, settings: Settings) -> None:
        """What was changed in the settings file and needs no restart."""
        self._lang = settings.table.lang
        if self._referee is not None:
            self._referee.new_match = new_match(settings)
        if isinstance(self._source, Adjustable):
            self._source.adjust(settings.camera)

    def _figures(self) -> dict[str, Any]:
        """What health says of settings and camera."""
        camera = {"camera": self._source.figures()} if isinstance(self._source, Adjustable) else {}
        return {"settings": self._live_settings.figures()} | camera

    def _recorder(self, camera: Camera, publish: topics.Publish) -> Recorder | None:
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


def new_match(settings: Settings) -> NewMatch:
    """What a start position begins."""
    return NewMatch(settings.match.ruleset, settings.match.sets, settings.match.first_turn)


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
