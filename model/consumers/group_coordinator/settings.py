"""What a group coordinator is set to. Defaults are 3.9's."""

import msgspec

_WEEK_MS = 7 * 24 * 60 * 60 * 1000


class GroupSettings(msgspec.Struct, frozen=True, kw_only=True):
    """By the names of their keys in server.properties; `offsets_retention_ms` is `offsets.retention.minutes`."""

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_initial_rebalance_delay_ms: int = 3_000
    group_max_size: int = 2**31 - 1
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = _WEEK_MS
