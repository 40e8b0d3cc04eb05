"""A finding in a few words: which kind it is, how many partitions it is about, and what matters most of it.

The whole sentences, why it matters and what to do are the finding's own; see `findings`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from model.cluster.findings import Finding
from model.cluster.findings.find import CHECKS
from model.cluster.findings.health import MIN_ISR, at_least_one
from model.cluster.texts import listed, ranges
from model.cluster.topic_image import NOBODY, Column, Longs, TopicImage
from model.sources.feed import Moment

WORDS: Mapping[str, str] = {kind.name: kind.word for check in CHECKS for kind in check.kinds}
"""Kind → the word that a list has for it."""

MOST_NAMED = 2
"""Ranges of partitions behind a topic's name; more are dots."""


@dataclass(frozen=True)
class Brief:
    """`which` are the partitions as they follow the subject, `-4` or `:3-5,7`; `part` is of how many, `1/6`; both are
    empty where it is about none in particular."""

    word: str
    which: str
    part: str
    text: str


def brief(found: Finding, moment: Moment) -> Brief:
    """A finding of a moment in a few words."""
    word = WORDS[found.kind]
    if found.kind == "dead-broker":
        broker = int(found.subject.removeprefix("broker "))
        counts = moment.findings.tally
        text = f"{counts.replicas[broker]:,} replicas, {counts.missing[broker]:,} out of sync"
        text += f", leader of {counts.leaders[broker]:,}" if counts.leaders[broker] else ""
        return Brief("FENCED" if broker in moment.image.fenced else word, "", "", text)
    topic = moment.image.topics.get(found.subject)
    if topic is None or not found.partitions:
        return Brief(word, "", "", shortened(found.what.partition(_ENDS.get(found.kind, "\n"))[0]))
    rows = np.flatnonzero(np.isin(topic.partitions, found.partitions))
    count = len(found.partitions)
    named, _, more = ranges(found.partitions, MOST_NAMED).partition(" ")
    which = f"{'-' if count == 1 else ':'}{named}{'…' if more else ''}" if count < len(topic) else ""
    told = _TOLD.get(found.kind)
    text = told(_Rows(moment, topic, rows)) if told else found.what.partition("; ")[2]
    return Brief(word, which, f"{count:,}/{len(topic):,}", shortened(text))


_ENDS: Mapping[str, str] = {"idle-thread": ": ", "dead-owner": ": ", "owner-of-nothing": ": ", "lagging": ": ",
                            "non-preferred-leader": ", ", "preferred-election-pending": ": "}  # fmt: skip
"""Kinds whose sentence goes on with names or reasons that are left to the description → what those begin with."""

_BROKERS = re.compile(r"\bbrokers? (\d+(?:, \d+)*)((?: \+\d+ more)?)(?: \((down|fenced|up)\))?")


def shortened(text: str) -> str:
    """With `b5 down` for `broker 5 (down)`."""

    def short(found: re.Match[str]) -> str:
        names = " ".join(f"b{broker}" for broker in found[1].split(", "))
        return f"{names}{found[2]}{' ' + found[3] if found[3] else ''}"

    return _BROKERS.sub(short, text)


@dataclass(frozen=True)
class _Rows:
    """Some partitions of a topic at a moment."""

    moment: Moment
    topic: TopicImage
    rows: Longs

    def named(self, brokers: Column | Iterable[int]) -> str:
        """`b5 down, b2`: whether they live is told of those that do not."""
        ids = sorted({int(broker) for broker in np.ravel(list(brokers))} - {NOBODY, -1})
        liveness = self.moment.findings.around.liveness
        states = {state: [f"b{one}" for one in ids if liveness(one) == state] for state in ("down", "fenced", "up")}
        parts = [f"{listed(some)}{'' if state == 'up' else ' ' + state}" for state, some in states.items() if some]
        return ", ".join(parts) or "no broker"

    @property
    def out(self) -> str:
        """Who holds a replica that is not in sync."""
        replicas, in_isr = self.topic.replicas[self.rows], self.topic.in_isr[self.rows]
        return self.named(replicas[~in_isr & (replicas != NOBODY)])

    @property
    def in_sync(self) -> str:
        """The number in sync, or the fewest and the most."""
        counts = self.topic.isr_count[self.rows]
        low, high = int(counts.min()), int(counts.max())
        return f"{low}" if low == high else f"{low}-{high}"

    @property
    def min_isr(self) -> int:
        setting = self.moment.image.topic_config(self.topic.name).get(MIN_ISR)
        return at_least_one(setting, self.moment.findings.around.min_isr)

    @property
    def replicas(self) -> int:
        return int(self.topic.replica_count[self.rows].max())

    @property
    def leader(self) -> str:
        return self.named(self.topic.leader[self.rows])

    @property
    def holders(self) -> str:
        return self.named(self.topic.replicas[self.rows])


def _offline(of: _Rows) -> str:
    holders = {int(one) for one in of.topic.replicas[of.rows].ravel()} - {NOBODY}
    if all(map(of.moment.findings.around.dead, holders)):
        return f"no live replica: {of.named(holders)}"
    leaders = of.topic.leader[of.rows]
    return f"no live replica in sync: {of.named([*of.topic.isr[of.rows].ravel().tolist(), *leaders.tolist()])}"


_TOLD: Mapping[str, Callable[[_Rows], str]] = {
    "offline": _offline,
    "under-min-isr": lambda of: f"{of.in_sync} in sync, {of.min_isr} needed; out: {of.out}",
    "at-min-isr": lambda of: f"{'one loss stops writes' if of.min_isr > 1 else 'last copy in sync'}; out: {of.out}",
    "under-replicated": lambda of: f"{of.in_sync} of {of.replicas} in sync; out: {of.out}",
    "leader-not-in-isr": lambda of: f"led by {of.leader}, outside the ISR",
    "leader-not-replica": lambda of: f"led by {of.leader}, no replica",
    "unclean-leader": lambda of: f"{of.leader} recovering from an unclean election",
    "no-state": lambda of: f"never had a leader: {of.holders}",
    "orphaned": lambda of: "a state znode without an assignment",
    "single-rack": lambda of: f"all replicas in one rack: {of.holders}",
    "rack-skew": lambda of: "on fewer racks than there are",
    "single-replica": lambda of: f"only on {of.holders}",
    "no-spare-replica": lambda of: f"min ISR {of.min_isr} is the number of replicas",
    "reassignment-running": lambda of: "being reassigned",
}
"""What is told of partitions; of other kinds, what follows their names in the finding's sentence."""
