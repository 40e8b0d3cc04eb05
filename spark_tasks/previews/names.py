"""The names that a group's numbers stand for. They stay where the cluster's image is, and do not travel to workers."""

from collections.abc import Mapping

import msgspec


class GroupNames(msgspec.Struct, frozen=True):
    """One group as staged. Members and topics in the order of their names."""

    key: str
    """As `ClusterImage.every_group` says it."""
    kind: str
    state: str
    uses: str | None
    """The strategy it uses now; None where that is not known."""
    topics: tuple[str, ...]
    members: tuple[str, ...]
    consumers: tuple[str, ...]
    partitions: int
    lag: int | None
    """Records, over all partitions; None where that of none is known."""
    numbers: Mapping[str, tuple[int, ...]] = {}
    """Topic → the ids of its partitions, where these are not 0, 1, 2 …"""
    notes: tuple[str, ...] = ()
    """What had to be assumed, in sentences."""

    @property
    def is_zookeeper(self) -> bool:
        """Whether its members register in ZooKeeper."""
        return self.kind == "zookeeper"


def newcomers(count: int) -> tuple[str, ...]:
    """Names of members that join in a preview; they sort behind every id that Kafka's clients make."""
    return tuple(f"~new-{number}" for number in range(1, count + 1))
