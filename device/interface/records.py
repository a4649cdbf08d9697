"""What stands in each topic's payload, as records: those of the rule book where there are such, here what messages add to them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from calibration.camera import Calibration
from device import topics
from device.evidence.record import Ground
from device.evidence.shelf import Holding
from device.health import Machine
from device.messaging.replay import ReplayRequest
from device.storage.match_log import Reason
from rules.facts import Incident, Judge, Picture, Player, Record, SeenDiscs, Stroke
from rules.orders import KINDS, Span
from rules.ruling import MatchResult, Place, Ruling
from rules.stats import Figures
from rules.table import Side

At = Annotated[str, Meta(description="wall time, UTC, ISO 8601")]
Seq = Annotated[int, Meta(ge=1, description="rises by one on stroke, ruling and incident of a table, over restarts too")]


class Status(Record, frozen=True, kw_only=True):
    """Whether the table is there; offline is also its last will."""

    state: Literal["online", "offline"]
    version: str
    since: At
    clock_synchronised: bool
    next_seq: Seq | UnsetType = UNSET  # online only
    schema: str = "novuss.status/1"


class Latency(Record, frozen=True, kw_only=True):
    """From a frame to what follows from it, milliseconds."""

    median: float
    p99: float


class SettingsHealth(Record, frozen=True, kw_only=True):
    """Settings that were changed and wait for a restart, and what is wrong with the file."""

    restart_needed_for: list[str]
    problem: str | None


class EvidenceHealth(Record, frozen=True, kw_only=True):
    """The film of the rulings; how full its folder is once something is in it."""

    kept: int
    missing: dict[Reason, int]
    dropped_frames: int
    waiting: int
    memory_mb: float
    pieces: int | UnsetType = UNSET
    protected: int | UnsetType = UNSET
    used_mb: float | UnsetType = UNSET
    protected_mb: float | UnsetType = UNSET
    quota_mb: int | UnsetType = UNSET


class CameraHealth(Record, frozen=True, kw_only=True):
    """A Pi's camera: state, losses, complaints."""

    model: str
    state: Literal["running", "stalled", "missing"]
    reopened: int
    failure: str | None
    colour_gains: list[float | None]
    lens_dioptre: float | None
    dropped: int | UnsetType = UNSET
    duplicates: int | UnsetType = UNSET
    disordered: int | UnsetType = UNSET
    odd_times: int | UnsetType = UNSET
    changed_exposure: int | UnsetType = UNSET
    changed_gain: int | UnsetType = UNSET
    complaints: list[str] | UnsetType = UNSET


class WebhookHealth(Record, frozen=True, kw_only=True):
    """Results on their way to a club's own software."""

    waiting: int
    refused: int
    problem: str | None


class NetworksHealth(Record, frozen=True, kw_only=True):
    """Which networks are in use; where one can't be loaded, geometry alone serves."""

    discs: bool
    occluders: bool


class Health(Machine, frozen=True, kw_only=True):
    """How the monitor does; what cannot be measured is null."""

    fps: float
    frames: int
    dropped_frames: int
    latency_ms: Latency
    source: str
    waiting_facts: int
    calibration_age_s: float | None
    calibration_rms_px: float | None
    drift_px: float | None
    stopped: str | None  # why nothing is called at present
    no_calls: int
    networks: NetworksHealth
    evidence: EvidenceHealth | None
    settings: SettingsHealth
    camera: CameraHealth | UnsetType = UNSET
    webhook: WebhookHealth | UnsetType = UNSET
    schema: str = "novuss.health/1"


class LatestEvidence(Record, frozen=True, kw_only=True):
    """One ruling's clip and still, or why there is none."""

    evidence: str
    match_id: str | None
    entry: int
    missing: Reason | None
    clip: str | UnsetType = UNSET
    moment_s: float | UnsetType = UNSET
    protected: list[Ground] | UnsetType = UNSET


class EvidenceList(Holding, frozen=True, kw_only=True):
    """The last clips and stills, and how full their folder is."""

    latest: list[LatestEvidence]
    schema: str = "novuss.evidence_list/1"


class Clock(Record, frozen=True, kw_only=True):
    """A clock that everybody sees, or that none runs."""

    span: Span
    limit_s: float
    run: bool
    at: At
    by: str | None
    schema: str = "novuss.clock/1"


class FinishedSet(Record, frozen=True, kw_only=True):
    """One line of the match sheet; a replay has no winner."""

    set: int
    first: str
    winner: str | None
    clause: str


class MatchState(Record, frozen=True, kw_only=True):
    """The folded state of a match."""

    id: str
    ruleset: str
    format: Literal["singles", "doubles"]
    sets: int
    play_all_sets: bool
    players: dict[Side, Player]
    status: Literal["ready", "playing", "over"]
    set: int
    first_turn: Side
    turn: Side | None
    interrupted: Side | None
    sets_won: dict[Side, int]
    debt: dict[Side, int]
    pending: dict[Side, int]
    penalty_pieces: dict[Side, int]
    warnings: dict[Side, int]
    on_table: dict[Side, int]
    placing: list[Place]
    guided_placing: bool
    finished: list[FinishedSet]
    winner_known: bool
    result: MatchResult | None
    problems: list[str]
    last_ruling: Ruling | UnsetType | None = UNSET  # not in the answer to a preview
    schema: str = "novuss.match_state/1"


def _with(record: type[msgspec.Struct], ending: str, means: str | None, *fields: Any) -> type[msgspec.Struct]:  # noqa: ANN401 - as msgspec has them
    """A record and what its message adds to it; records of a fixed layout cannot be mixed together."""
    named = {"__doc__": means}
    return msgspec.defstruct(f"{record.__name__}{ending}", fields, bases=(record,), namespace=named, frozen=True, kw_only=True)


# What the sequence of a table adds to a record of the log; a ruling names its entry itself.
_PLACE: Final = (("seq", Seq), ("match_id", str))
_ENTRY: Final = (("entry", int),)
_SENT: Final = (("at", At), ("clock_synchronised", bool), ("evidence", str | None), ("evidence_missing", Reason | UnsetType, UNSET))
StrokeMessage: Final = _with(
    Stroke, "Message", "A stroke as it was seen, with its place in the table's sequence.", *_PLACE, *_ENTRY, *_SENT
)
IncidentMessage: Final = _with(Incident, "Message", "What happened between strokes.", *_PLACE, *_ENTRY, *_SENT)
RulingMessage: Final = _with(
    Ruling,
    "Message",
    "What was ruled, on a stroke, an incident or a judge's command (then `judge` holds the command).",
    *_PLACE,
    *_SENT,
    ("judge", Judge | UnsetType, UNSET),
)


def _as_command(order: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """What is sent on `judge`: the order, with the sender's mark; `preview` only asks what it would do."""
    return _with(order, "Command", order.__doc__, ("correlation", str | None, None), ("preview", bool, False))


class JudgeResult(Record, frozen=True, kw_only=True):
    """The answer to a command: accepted with what came of it, or refused with why."""

    correlation: str | None
    accepted: bool
    error: str | UnsetType = UNSET
    entry: int | UnsetType = UNSET
    ruling: Ruling | UnsetType = UNSET
    preview: bool | UnsetType = UNSET
    before: MatchState | UnsetType = UNSET
    after: MatchState | UnsetType = UNSET
    match: dict[str, Any] | UnsetType = UNSET
    schema: str = "novuss.judge_result/1"


class ReplayMessage(Record, frozen=True, kw_only=True):
    """One message that was missed, as it was sent."""

    seq: Seq
    topic: Literal["stroke", "ruling", "incident"]
    payload: dict[str, Any]
    correlation: str | None
    schema: str = "novuss.replay_message/1"


class ReplayDone(Record, frozen=True, kw_only=True):
    """The end of an answer; `missing` are ranges that are no longer kept, `next` is where to ask again."""

    done: Literal[True]
    first: int | UnsetType = msgspec.field(name="from", default=UNSET)
    last: int | UnsetType = msgspec.field(name="to", default=UNSET)
    sent: int | UnsetType = UNSET
    missing: list[tuple[int, int]] | UnsetType = UNSET
    next: int | UnsetType | None = UNSET
    error: str | UnsetType = UNSET
    correlation: str | None
    schema: str = "novuss.replay_done/1"


class News(Record, frozen=True, kw_only=True):
    """What the webhook posts: a set (in `set`) or the match has ended, or what was told before is another after a judge's decision."""

    seq: int
    event: Literal["set", "match", "correction"]
    table: str
    match_id: str
    entry: int
    at: At
    set: FinishedSet | None
    match: MatchState
    schema: str = "novuss.news/1"


# What a table takes; everything else it says.
HEARD: Final = (topics.JUDGE, topics.REPLAY)
# Which records a topic carries.
MESSAGES: Final[dict[topics.Topic, tuple[type[msgspec.Struct], ...]]] = {
    topics.STATUS: (Status,),
    topics.HEALTH: (Health,),
    topics.CALIBRATION: (Calibration,),
    topics.DISCS: (SeenDiscs,),
    topics.PICTURE: (Picture,),
    topics.MATCH: (MatchState,),
    topics.CLOCK: (Clock,),
    topics.STATS: (Figures,),
    topics.EVIDENCE: (EvidenceList,),
    topics.STROKE: (StrokeMessage,),
    topics.RULING: (RulingMessage,),
    topics.INCIDENT: (IncidentMessage,),
    topics.JUDGE: tuple(_as_command(order) for order in (Judge, *KINDS.values())),
    topics.JUDGE_RESULT: (JudgeResult,),
    topics.REPLAY: (ReplayRequest,),
    topics.REPLAY_RESULT: (ReplayMessage, ReplayDone),
}
