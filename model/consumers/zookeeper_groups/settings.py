"""How a ZooKeeper consumer is set up, and what it is called. Plain values.

Sources: `kafka.consumer.ConsumerConfig`, `kafka.consumer.ZookeeperConsumerConnector` (0.8.2, 1.1).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.znodes.consumers import ConsumerRegistration

Pattern = Literal["static", "white_list", "black_list"]


class MemberSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys, with 1.1's defaults.

    `subscription` maps topics to streams (threads); with a list pattern it has one entry, a regular expression.
    `strategy` is one of the assignors with `zk-` in front; `call_back` asks before partitions are given up and taken.
    """

    group_id: str
    consumer_id: str
    subscription: Mapping[str, int]
    pattern: Pattern = "static"
    strategy: str = "zk-range"
    rebalance_max_retries: int = 4
    rebalance_backoff_ms: int = 2_000
    auto_commit_enable: bool = True
    auto_commit_interval_ms: int = 60_000
    zookeeper_session_timeout_ms: int = 6_000
    call_back: bool = False

    def registration(self, at_ms: int) -> bytes:
        """The payload of its id znode."""
        return ConsumerRegistration(
            subscription=self.subscription, pattern=self.pattern, timestamp=str(at_ms)
        ).to_bytes()


def new_consumer_id(group: str, host: str, at_ms: int, high_bits: int) -> str:
    """`group_host-millis-uuid8`. `high_bits`: the higher 64 of a random UUID; leading zeros are not written."""
    return f"{group}_{host}-{at_ms}-{f'{high_bits:x}'[:8]}"
