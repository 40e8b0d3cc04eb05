"""The broker list, one broker's facts (where it is, what it leads and holds, since when), and who is in one rack.

Dead brokers are listed, too: they are named as replicas and not registered. Judges nothing; see the findings.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.findings.health import Tally, tally
from model.cluster.texts import kept_in
from model.sources.feed import Moment
from tui.engine.cluster.queries import BrokerList, BrokerText, RackText, RegistrationText
from tui.engine.filters import Coded, Field, Numbers, Texts
from tui.engine.listing import Listing, Memory, place_in, window
from tui.engine.messages import TextAnswer
from tui.engine.partitions.counts import NO_RACK, rack_name
from tui.engine.partitions.rows import table_of
from tui.engine.partitions.table import PartitionTable
from tui.engine.rows import Column, Row, Window, line, span
from tui.engine.sheets import Sheet, age_ms, age_text, date_text

COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("host", -14, "<", "host"),
    Column("rack", 6, "<", "rack"),
    Column("lead", 6, ">", "leaders"),
    Column("repl", 6, ">", "replicas"),
    Column("under", 5, ">", "under"),
    Column("pref", 5, ">", "prefer"),
    Column("since", 5, ">", "age"),
    Column("epoch", 11, ">", "epoch"),
    Column("led/pref", 9, ">", "share"),
    Column("out", 5, ">", "out"),
    Column("endpoints", -24, "<", "endpoints"),
)
FENCED = "fenced"
"""Registered, and serving nothing: no less dead for partitions."""
UNCONFIRMED = "unconfirmed"
_GONE = BrokerImage(-1)


@dataclass(frozen=True, eq=False)
class Brokers:
    """Every broker with its counts. `under` are under-replicated partitions it leads (Kafka's per-broker metric
    `UnderReplicatedPartitions`), `counts.off_preferred` those it should lead and could, and does not."""

    table: PartitionTable
    ids: tuple[int, ...]
    counts: Tally
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

    def state(self, broker: int) -> str:
        """up, DOWN, fenced, controller or unconfirmed."""
        if self.table.is_dead(broker):
            return FENCED if broker in self.table.image.fenced else "DOWN"
        if broker in self.unconfirmed:
            return UNCONFIRMED
        return "controller" if self.controller == broker else "up"


def brokers_of(moment: Moment, memory: Memory) -> Brokers:
    """The moment's brokers, counted once."""
    table = table_of(moment, memory)

    def count() -> Brokers:
        leaders, counts = np.unique(table.columns.leader[table.health.under_replicated], return_counts=True)
        under = Counter(dict(zip(leaders.tolist(), counts.tolist(), strict=True)))
        controller = moment.image.controller.broker
        if controller is None or moment.image.generation == "kraft":  # there it may be no broker
            ids = table.brokers
        else:
            ids = tuple(sorted({*table.brokers, controller}))
        return Brokers(table, ids, tally(table.health), under, controller, unsure)

    unsure = moment.image.unconfirmed_brokers
    return memory.recall("brokers", (table, moment.image.controller, unsure), count)


def brokers_window(moment: Moment, query: BrokerList, now_ms: int, memory: Memory) -> Window:
    """All brokers, by id."""
    brokers = brokers_of(moment, memory)
    listing = Listing(
        count=len(brokers.ids),
        fields=lambda: _fields(brokers, now_ms),
        shown=("id", "host", "rack", "state"),
        row=lambda index: _row(brokers, brokers.ids[index], now_ms),
        place=place_in([str(broker) for broker in brokers.ids]),
        columns=COLUMNS,
        made_from=(brokers,),
        nothing="no broker is registered, and no topic names one",
    )
    return window(listing, query, memory, now_ms)


def _fields(brokers: Brokers, now_ms: int) -> dict[str, Field]:
    registered = [brokers.registration(broker) for broker in brokers.ids]
    states = ("DOWN", FENCED, UNCONFIRMED, "controller", "up")

    def counted(counts: Counter[int]) -> Numbers:
        return Numbers(np.array([counts[broker] for broker in brokers.ids], np.int64))

    return {
        "id": Numbers(np.array(brokers.ids, np.int64)),
        "host": Texts(lambda: [host_of(broker) for broker in registered]),
        "rack": Texts(lambda: [broker.rack or "" for broker in registered]),
        "state": Coded(
            np.array([states.index(brokers.state(broker)) for broker in brokers.ids], np.int32), Texts(lambda: states)
        ),
        "leaders": counted(brokers.counts.leaders),
        "replicas": counted(brokers.counts.replicas),
        "under": counted(brokers.under),
        "prefer": counted(brokers.counts.off_preferred),
        "age": Numbers(np.array([age_ms(b.registered_ms, now_ms) for b in registered], np.int64), is_duration=True),
        "epoch": Numbers(np.array([-1 if b.epoch is None else b.epoch for b in registered], np.int64)),
        "share": Numbers(np.array([round(100 * brokers.shares(broker)[0]) for broker in brokers.ids], np.int64)),
        "out": counted(brokers.counts.missing),
        "endpoints": Texts(lambda: [" ".join(broker.endpoints) for broker in registered]),
    }


def _row(brokers: Brokers, broker: int, now_ms: int) -> Row:
    registered, state, counts = brokers.registration(broker), brokers.state(broker), brokers.counts
    dead = state in ("DOWN", FENCED)
    style = {"DOWN": "dead", FENCED: "dead", UNCONFIRMED: "warn", "controller": "controller"}.get(state, "")
    under, prefer, out = brokers.under[broker], counts.off_preferred[broker], counts.missing[broker]
    return Row(
        key=str(broker),
        cells=(
            line(span(broker, style)),
            line(span(state, style) if dead or state == UNCONFIRMED else host_of(registered)),
            line(registered.rack or "-"),
            line(span(f"{counts.leaders[broker]:,}", "error" if dead and counts.leaders[broker] else "")),
            line(f"{counts.replicas[broker]:,}"),
            line(span(f"{under:,}", "warn" if under else "dim")),
            line(span(f"{prefer:,}", "changed" if prefer else "dim")),
            line(span(age_text(registered.registered_ms, now_ms), "dim")),
            line(span("-" if registered.epoch is None else registered.epoch, "dim")),
            line("/".join(f"{share:.0%}" for share in brokers.shares(broker))),
            line(span(f"{out:,}", "out" if out else "dim")),
            line(span("  ".join(registered.endpoints) or "-", "dim")),
        ),
        mark={"DOWN": "X", FENCED: "X", UNCONFIRMED: "?", "controller": "*"}.get(state, ""),
    )


def host_of(broker: BrokerImage) -> str:
    """`host:port` of the first endpoint."""
    return broker.endpoints[0].rpartition("://")[2] if broker.endpoints else "-"


def broker_text(moment: Moment, query: BrokerText, now_ms: int, memory: Memory) -> TextAnswer:
    """Everything known about the broker whose id is the key."""
    return broker_sheet(moment, query, now_ms, memory).answer()


def broker_sheet(moment: Moment, query: BrokerText | RegistrationText, now_ms: int, memory: Memory) -> Sheet:
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


def rack_text(moment: Moment, query: RackText, now_ms: int, memory: Memory) -> TextAnswer:
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
