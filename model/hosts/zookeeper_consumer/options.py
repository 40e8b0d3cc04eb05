"""How a ZooKeeper consumer is set up. Plain values."""

import msgspec

from model.consumers.zookeeper_groups.settings import MemberSettings
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings

EARLIEST = -2
LATEST = -1
RESETS = {"smallest": EARLIEST, "largest": LATEST}
"""Values of `auto.offset.reset`, and the timestamps that ListOffsets knows them by."""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys; `fetch_message_max_bytes` is for one partition."""

    auto_offset_reset: str = "smallest"
    fetch_message_max_bytes: int = 1 << 20
    fetch_min_bytes: int = 1
    fetch_wait_max_ms: int = 100
    refresh_leader_backoff_ms: int = 200


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`listener`: through which listener of the brokers; where one has none of that name, through its first."""

    zookeeper: ZooKeeperSettings
    member: MemberSettings
    fetch: FetchSettings = FetchSettings()
    listener: str = "PLAINTEXT"
    tell_values: bool = False
