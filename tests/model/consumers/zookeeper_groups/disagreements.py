"""Split brain and herd, out of the members' own states: who thinks what, who consumes what twice, who moves at once.

It needs the members themselves; ZooKeeper alone shows owners, not opinions.
"""

from collections.abc import Iterable, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.member_state import MemberRebalance, MemberState


class Disagreement(msgspec.Struct, frozen=True):
    """A partition about whose owner members think differently. `owners`: thread, empty for none → who thinks so."""

    partition: TopicPartition
    owners: Mapping[str, tuple[str, ...]]


class Wave(msgspec.Struct, frozen=True):
    """Rebalances of one group that overlap in time: the herd that one change has set off."""

    began_ms: int
    ended_ms: int
    rebalances: Mapping[str, tuple[MemberRebalance, ...]]
    """By member."""

    @property
    def attempts(self) -> int:
        """Of all members."""
        return sum(each.attempts for some in self.rebalances.values() for each in some)

    @property
    def conflicts(self) -> int:
        """Claims that met another owner."""
        return sum(len(each.conflicts) for some in self.rebalances.values() for each in some)


def disagreements(members: Iterable[MemberState]) -> tuple[Disagreement, ...]:
    """Partitions whose owner depends on whom you ask, in order. Members that have not read the group are left out."""
    views = {each.settings.consumer_id: each.view for each in members if each.view is not None}
    partitions = {read for view in views.values() for read in view.owners}
    found: list[Disagreement] = []
    for read in sorted(partitions):
        owners: dict[str, tuple[str, ...]] = {}
        for name, view in sorted(views.items()):
            owner = view.owners.get(read, "")
            owners[owner] = (*owners.get(owner, ()), name)
        if len(owners) > 1:
            found.append(Disagreement(read, owners))
    return tuple(found)


def consumed_twice(members: Iterable[MemberState]) -> Mapping[TopicPartition, tuple[str, ...]]:
    """Partitions that several threads fetch at this moment: a session has expired and its member does not know."""
    fetching: dict[TopicPartition, tuple[str, ...]] = {}
    for member in members:
        for read, thread in member.fetching.items():
            fetching[read] = (*fetching.get(read, ()), thread)
    return {read: threads for read, threads in sorted(fetching.items()) if len(threads) > 1}


def waves(members: Iterable[MemberState]) -> tuple[Wave, ...]:
    """The group's rebalances, those at the same time together, oldest first."""
    told = [(each.settings.consumer_id, rebalance) for each in members for rebalance in each.rebalances]
    found: list[Wave] = []
    for name, rebalance in sorted(told, key=lambda pair: (pair[1].began_ms, pair[0])):
        if found and rebalance.began_ms <= found[-1].ended_ms:
            last = found.pop()
            some = {**last.rebalances, name: (*last.rebalances.get(name, ()), rebalance)}
            found.append(Wave(last.began_ms, max(last.ended_ms, rebalance.ended_ms), some))
        else:
            found.append(Wave(rebalance.began_ms, rebalance.ended_ms, {name: (rebalance,)}))
    return tuple(found)
