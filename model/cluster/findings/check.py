"""What a check is: the kinds of findings that it may tell of, and a function of the case that it looks at.

Runs nothing; `checks` lists them all.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from model.cluster.findings.cases import ClusterCase, GroupCase, TopicCase
from model.cluster.findings.finding import Finding, Kind
from model.cluster.findings.health import Health
from model.cluster.topic_image import Flags


class ClusterCheck(NamedTuple):
    """Looks at the cluster as a whole, whatever changed: it goes through no partitions."""

    kinds: tuple[Kind, ...]
    look: Callable[[ClusterCase], Iterator[Finding]]


class GroupCheck(NamedTuple):
    """Looks at a consumer group that changed; where it `needs_owners`, only if its coordinator tells who owns what."""

    kinds: tuple[Kind, ...]
    look: Callable[[GroupCase], Iterator[Finding]]
    needs_owners: bool


class Words(NamedTuple):
    """The three sentences of a finding."""

    what: str
    why: str
    action: str


class TopicCheck(NamedTuple):
    """Looks at the partitions that changed: which have it, and how that is told of each topic."""

    kind: Kind
    flags: Callable[[Health], Flags]
    tell: Callable[[TopicCase], Words]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.kind,)


def cluster_check(*kinds: Kind) -> Callable[[Callable[[ClusterCase], Iterator[Finding]]], ClusterCheck]:
    """Makes a check of a function that looks at the cluster."""
    return lambda look: ClusterCheck(kinds, look)


def group_check(
    *kinds: Kind, needs_owners: bool = True
) -> Callable[[Callable[[GroupCase], Iterator[Finding]]], GroupCheck]:
    """Makes a check of a function that looks at a consumer group."""
    return lambda look: GroupCheck(kinds, look, needs_owners)


def topic_check(kind: Kind, flags: Callable[[Health], Flags]) -> Callable[[Callable[[TopicCase], Words]], TopicCheck]:
    """Makes a check of a function that puts flagged partitions of a topic into words."""
    return lambda tell: TopicCheck(kind, flags, tell)
