"""The broker list, one broker's facts (where it is, what it leads and holds, since when), and who is in one rack.

Dead brokers are listed, too: they are named as replicas and not registered. Judges nothing; see the findings.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.findings.health import BrokerTally, tally
from model.cluster.texts import kept_in, redacted
from model.sources.feed import Moment
from model.znodes.configs import DEFAULT_ENTITY
from tui.engine.cluster.queries import BrokerList, BrokerTextQuery, RackText, RegistrationText
from tui.engine.filters import Coded, ListField, Numbers, Texts, whole_numbers
from tui.engine.glyphs import bars
from tui.engine.listing import AnswerMemo, Listing, place_in, window
from tui.engine.messages import TextAnswer
from tui.engine.partitions.counts import NO_RACK, rack_name
from tui.engine.partitions.rows import table_of
from tui.engine.partitions.table import PartitionTable
from tui.engine.rows import Column, Line, Row, Window, line, span
from tui.engine.sheets import Kept, Sheet, age_ms, age_text, date_text, nothing_kept

COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("leaders, replicas", -8, "<", rank=1),
    Column("lead", 5, ">", "leaders", rank=1),
    Column("repl", 5, ">", "replicas", rank=1),
    Column("in ISR", 6, "<", "state"),
    Column("out", 4, ">", "out", rank=3),
    Column("rack", 6, "<", "rack", rank=2),
    Column("under", 5, ">", "under", rank=3),
    Column("pref", 4, ">", "prefer", rank=4),
    Column("disk", 4, ">", "disk", rank=4),
    Column("led/pref", 9, ">", "share", rank=6),
    Column("since", 5, ">", "age", rank=5),
    Column("host", -14, "<", "host", rank=7),
    Column("epoch", 5, ">", "epoch", rank=8),
    Column("endpoints", -24, "<", "endpoints", rank=9),
)
BAR = 1
"""The place of the bar among the columns."""
LEADS, HOLDS, PREFERRED = "█", "▒", "│"
"""Cells of a bar for partitions that a broker leads, for its other replicas, and where leading as preferred ends."""
OUT = "░"
IN_SYNC = 6
"""Cells of the bar for replicas in the ISR."""
MARKS = {"DOWN": "X", "fenced": "X", "unconfirmed": "?", "controller": "★"}
"""What stands before a row, by the broker's state."""
FENCED = "fenced"
"""Registered, and serving nothing: no less dead for partitions."""
UNCONFIRMED = "unconfirmed"
_GONE = BrokerImage(-1)


@dataclass(frozen=True, eq=False)
class BrokerTable:
    """Every broker with its counts. `under` are under-replicated partitions it leads (Kafka's per-broker metric
    `UnderReplicatedPartitions`), `counts.off_preferred` those it should lead and could, and does not."""

    table: PartitionTable
    ids: tuple[int, ...]
    counts: BrokerTally
    under: Counter[int]
    controller: int | None
    unconfirmed: tuple[int, ...]
    """Neither is asked of the table, which outlasts a change of them."""

    def registration(self, broker: int) -> BrokerImage:
        """What the broker registered, fenced or not; all empty where it is dead."""
        image = self.table.image
        return image.brokers.get(broker) or image.fenced.get(broker, _GONE)

    def shares(self, broker: int) -> tuple[float, float]:
        """What part of all partitions that have a leader it leads, and of all it is the preferred leader of: 0 to 1."""
        leaders, preferred = self.counts.leaders, self.counts.preferred
        return (leaders[broker] / (leaders.total() or 1), preferred[broker] / (preferred.total() or 1))

    @cached_property
    def most_replicas(self) -> int:
        """That any broker has, or partitions that it leads."""
        return max((*self.counts.replicas.values(), *self.counts.leaders.values()), default=0)

    def disk_used(self, broker: int) -> float | None:
        """What part of the disks below its log folders is used, 0 to 1; None where nobody told."""
        folders = [one for one in self.table.image.log_dirs.get(broker, ()) if one.total_bytes > 0]
        total = sum(folder.total_bytes for folder in folders)
        return 1 - sum(max(folder.usable_bytes, 0) for folder in folders) / total if total else None

    def state(self, broker: int) -> str:
        """up, DOWN, fenced, controller or unconfirmed."""
        if self.table.is_dead(broker):
            return FENCED if broker in self.table.image.fenced else "DOWN"
        if broker in self.unconfirmed:
            return UNCONFIRMED
        return "controller" if self.controller == broker else "up"


def brokers_of(moment: Moment, memory: AnswerMemo) -> BrokerTable:
    """The moment's brokers, counted once."""
    table = table_of(moment, memory)

    def count() -> BrokerTable:
        leaders, counts = np.unique(table.columns.leader[table.health.under_replicated], return_counts=True)
        under = Counter(dict(zip(leaders.tolist(), counts.tolist(), strict=True)))
        controller = moment.image.controller.broker
        if controller is None or moment.image.generation == "kraft":  # there it may be no broker
            ids = table.brokers
        else:
            ids = tuple(sorted({*table.brokers, controller}))
        return BrokerTable(table, ids, tally(table.health), under, controller, unsure)

    unsure = moment.image.unconfirmed_brokers
    return memory.recall("brokers", (table, moment.image.controller, unsure), count)


def brokers_window(moment: Moment, query: BrokerList, now_ms: int, memory: AnswerMemo) -> Window:
    """All brokers, by id; the wider the list, the longer the bars."""
    brokers = brokers_of(moment, memory)
    size = next(cells for least, cells in BARS if query.width >= least)
    title = "leaders/replicas" if size >= 16 else "share"
    columns = (*COLUMNS[:BAR], Column(title, size, rank=COLUMNS[BAR].rank), *COLUMNS[BAR + 1 :])
    listing = Listing(
        count=len(brokers.ids),
        fields=lambda: _fields(brokers, now_ms),
        shown=("id", "host", "rack", "state"),
        row=lambda index: _row(brokers, brokers.ids[index], now_ms, size),
        place=place_in([str(broker) for broker in brokers.ids]),
        columns=columns,
        made_from=(brokers,),
        nothing="no broker is registered, and no topic names one",
    )
    return window(listing, query, memory, now_ms)


def _fields(brokers: BrokerTable, now_ms: int) -> dict[str, ListField]:
    registered = [brokers.registration(broker) for broker in brokers.ids]
    states = ("DOWN", FENCED, UNCONFIRMED, "controller", "up")

    def counted(counts: Counter[int]) -> Numbers:
        return whole_numbers(counts[broker] for broker in brokers.ids)

    return {
        "id": whole_numbers(brokers.ids),
        "host": Texts(lambda: [host_of(broker) for broker in registered]),
        "rack": Texts(lambda: [broker.rack or "" for broker in registered]),
        "state": Coded(
            np.array([states.index(brokers.state(broker)) for broker in brokers.ids], np.int32), Texts(lambda: states)
        ),
        "leaders": counted(brokers.counts.leaders),
        "replicas": counted(brokers.counts.replicas),
        "under": counted(brokers.under),
        "prefer": counted(brokers.counts.off_preferred),
        "age": whole_numbers((age_ms(b.registered_ms, now_ms) for b in registered), is_duration=True),
        "epoch": whole_numbers(b.epoch for b in registered),
        "share": whole_numbers(round(100 * brokers.shares(broker)[0]) for broker in brokers.ids),
        "out": counted(brokers.counts.missing),
        "disk": whole_numbers(_percent(brokers.disk_used(broker)) for broker in brokers.ids),
        "endpoints": Texts(lambda: [" ".join(broker.endpoints) for broker in registered]),
    }


def _percent(part: float | None) -> int:
    return -1 if part is None else round(100 * part)


def _row(brokers: BrokerTable, broker: int, now_ms: int, size: int) -> Row:
    registered, state, counts = brokers.registration(broker), brokers.state(broker), brokers.counts
    dead = state in ("DOWN", FENCED)
    style = {"DOWN": "dead", FENCED: "dead", UNCONFIRMED: "warn", "controller": "controller"}.get(state, "strong")
    under, prefer, out = brokers.under[broker], counts.off_preferred[broker], counts.missing[broker]
    used = brokers.disk_used(broker)
    return Row(
        key=str(broker),
        cells=(
            line(span(broker, style)),
            _bar(brokers, broker, size),
            line(span(f"{counts.leaders[broker]:,}", "error" if dead and counts.leaders[broker] else "")),
            line(f"{counts.replicas[broker]:,}"),
            line(span(state, style)) if dead or state == UNCONFIRMED else _in_sync(counts.replicas[broker], out),
            line(span(f"{out:,}", "out" if out else "dim")),
            line(registered.rack or "-"),
            line(span(f"{under:,}", "warn" if under else "dim")),
            line(span(f"{prefer:,}", "changed" if prefer else "dim")),
            line(span("-" if used is None else f"{used:.0%}", "warn" if (used or 0) >= FULL else "dim")),
            line("/".join(f"{share:.0%}" for share in brokers.shares(broker))),
            line(span(age_text(registered.registered_ms, now_ms), "dim")),
            line(host_of(registered)),
            line(span("-" if registered.epoch is None else registered.epoch, "dim")),
            line(span("  ".join(registered.endpoints) or "-", "dim")),
        ),
        mark=MARKS.get(state, ""),
    )


BARS = ((100, 24), (70, 16), (50, 12), (0, 8))
"""From how many cells of the list on, how many cells a bar has."""
MARKED = 16
"""Cells from which on a bar has a line for the preferred share: in fewer it would hide what it stands on."""
FULL = 0.85
"""Of the disk."""


def _bar(brokers: BrokerTable, broker: int, size: int) -> Line:
    """Leaders among replicas, against the broker that has the most; a line where all that prefer it would end."""
    counts = brokers.counts
    most = brokers.most_replicas
    leads, holds, prefers = (
        _cells(some[broker], most, size) for some in (counts.leaders, counts.replicas, counts.preferred)
    )
    signs = [(LEADS, "leader")] * leads + [(HOLDS, "isr")] * (holds - leads) + [(" ", "")] * (size - max(holds, leads))
    if prefers and prefers != leads and size >= MARKED:
        signs[prefers - 1] = (PREFERRED, "changed")
    return tuple(("".join(sign for sign, _ in run), style) for style, run in groupby(signs, lambda sign: sign[1]))


def _cells(count: int, of: int, size: int) -> int:
    """One cell at least for anything."""
    return max(round(count * size / of), 1) if count and of else 0


def _in_sync(replicas: int, out: int) -> Line:
    """The replicas in the ISR, exactly, and those that are not in a sign of their own."""
    if not replicas:
        return ()
    drawn = bars(((1 - out / replicas, "rule"), (out / replicas, "out")), IN_SYNC)
    return tuple((OUT if style == "out" else text, style) for text, style in drawn)


def host_of(broker: BrokerImage) -> str:
    """`host:port` of the first endpoint."""
    return broker.endpoints[0].rpartition("://")[2] if broker.endpoints else "-"


def broker_text(
    moment: Moment, query: BrokerTextQuery, now_ms: int, memory: AnswerMemo, kept: Kept = nothing_kept
) -> TextAnswer:
    """Everything known about the broker whose id is the key. `kept`: the settings that its brokers do not obey."""
    sheet = broker_sheet(moment, query, now_ms, memory)
    for entity, whose in ((query.key, "set on it"), (DEFAULT_ENTITY, "set on all")):
        settings = redacted(f"brokers/{entity}", moment.image.configs.get(f"brokers/{entity}", {}))
        if settings:
            sheet.fact(whose, " ".join(f"{key}={value}" for key, value in sorted(settings.items())))
        for name in kept(settings, of_topic=False):
            sheet.fact("kept", f"{name}: the sandbox's brokers keep it and do not obey it", "warn")
    return sheet.answer()


def broker_sheet(moment: Moment, query: BrokerTextQuery | RegistrationText, now_ms: int, memory: AnswerMemo) -> Sheet:
    """The same, to be written on."""
    brokers = brokers_of(moment, memory)
    sheet = Sheet(f"broker {query.key}", query.width)
    broker = next((broker for broker in brokers.ids if str(broker) == query.key), None)
    if broker is None:
        return sheet.say("there is no such broker (any more)", "warn")
    registered, state, counts = brokers.registration(broker), brokers.state(broker), brokers.counts
    stopping = ", in controlled shutdown" if registered.in_controlled_shutdown else ""
    styles = {"DOWN": "error", FENCED: "error", UNCONFIRMED: "warn", "controller": "controller"}
    sheet.fact("state", f"{state}{stopping}", styles.get(state, "ok"))
    if state == UNCONFIRMED:
        sheet.fact("why", "Only old metadata names it: no controller is active that would count it, and it is silent.")
    sheet.fact(*kept_in(moment.image.generation, f"/brokers/ids/{broker}"))
    if state == "DOWN":
        sheet.fact("why", _why_down(moment.image))
    else:
        if state == FENCED:
            sheet.fact("why", "It is registered; the controllers hear no heartbeats of it, or it was stopped in order.")
        sheet.fact("endpoints", "  ".join(registered.endpoints) or "-")
        sheet.fact("rack", registered.rack or "-")
        since = f"{date_text(registered.registered_ms)}, {age_text(registered.registered_ms, now_ms)} ago"
        sheet.fact("since", since if registered.registered_ms > 0 else "-")
        if registered.epoch is not None or tells_epochs(moment.image):
            sheet.fact("epoch", "none (before Kafka 2.2)" if registered.epoch is None else str(registered.epoch))
    sheet.fact("leads", f"{counts.leaders[broker]:,}, of them under-replicated {brokers.under[broker]:,}")
    sheet.fact("preferred", f"{counts.preferred[broker]:,}, of them led by another {counts.off_preferred[broker]:,}")
    led, preferred = brokers.shares(broker)
    sheet.fact("share", f"leads {led:.1%} of the partitions, should lead {preferred:.1%}")
    sheet.fact("replicas", f"{counts.replicas[broker]:,}, of them out of the ISR {counts.missing[broker]:,}")
    found = [one for one in moment.findings.found if one.subject == f"broker {broker}"]
    for action, some in groupby(found, key=lambda one: one.action):  # leaders and replicas may have one way out
        sheet.gap()
        for one in some:
            sheet.fact(one.severity, one.what, one.severity)
        sheet.fact("", action)
    return sheet


def tells_epochs(image: ClusterImage) -> bool:
    """Whether a broker without an epoch has none: brokers themselves, and the texts of tools, do not tell theirs."""
    return image.generation != "kraft" and not {"/controller_epoch", "/brokers/ids/*"} & image.unreadable.keys()


def _why_down(image: ClusterImage) -> str:
    if image.generation == "kraft":
        return "It is named in replica lists and is not among the brokers that serve: fenced, stopped or unregistered."
    return "It is named in replica lists and is not registered: its ZooKeeper session has ended."


def rack_text(moment: Moment, query: RackText, now_ms: int, memory: AnswerMemo) -> TextAnswer:
    """About the rack whose name is the key."""
    sheet = Sheet(query.key, query.width)
    brokers = brokers_of(moment, memory)
    table, counts = brokers.table, brokers.counts
    here = [broker for broker in table.brokers if rack_name(moment.image, broker) == query.key]
    if not here:
        return sheet.say("no broker is in such a rack (any more)" if query.key else "", "dim").answer()
    dead = sum(map(table.is_dead, here))
    sheet.fact("brokers", f"{len(here):,}, of them {dead:,} dead", "error" if dead else "")
    sheet.fact("", " ".join(f"{'X' if table.is_dead(broker) else 'b'}{broker}" for broker in here))
    sheet.fact("leads", f"{sum(counts.leaders[broker] for broker in here):,}")
    missing = sum(counts.missing[broker] for broker in here)
    sheet.fact("replicas", f"{sum(counts.replicas[broker] for broker in here):,}, of them out of the ISR {missing:,}")
    if query.key == NO_RACK:
        sheet.fact("why", "They set no broker.rack, or are dead: only a registration names the rack.")
    return sheet.answer()
