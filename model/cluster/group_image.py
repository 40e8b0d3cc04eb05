"""A ZooKeeper consumer group: who is in it, which thread owns what, how far it has read."""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition


class Member(msgspec.Struct, frozen=True):
    """One consumer. `subscription` is topic or pattern → threads; `pattern` is static, white_list or black_list."""

    subscription: Mapping[str, int]
    pattern: str = "static"
    joined_ms: int = 0

    @property
    def threads(self) -> int:
        """Consumer threads, over all topics it names."""
        return sum(self.subscription.values())


class GroupImage(msgspec.Struct, frozen=True):
    """One group. Owners are consumer thread ids, `<consumer id>-<thread>`; offsets are the next record to consume."""

    name: str
    members: Mapping[str, Member] = {}
    owners: Mapping[TopicPartition, str] = {}
    offsets: Mapping[TopicPartition, int] = {}
    kind: str = "zookeeper"


def member_of(owner: str) -> str:
    """The consumer id in a consumer thread id (`g_host-1-a1b2-0` → `g_host-1-a1b2`)."""
    return owner.rpartition("-")[0]
