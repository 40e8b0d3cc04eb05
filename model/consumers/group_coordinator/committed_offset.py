"""An offset as a group has committed it. It decides nothing."""

import msgspec


class CommittedOffset(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`kafka.common.OffsetAndMetadata` (3.9). `expire_ms`: only commits of old clients name a time of their own."""

    offset: int
    metadata: str = ""
    leader_epoch: int | None = None
    commit_ms: int
    expire_ms: int | None = None
    logged_at: int = -1
    """The offset in `__consumer_offsets` of the batch that it came with; -1 while it is not there."""
