"""One who may own partitions, as people call it, and how that one is. Knows no list."""

import re
from typing import NamedTuple

NOBODY = "no owner"
RANKS = (NOBODY, "dead", "gone", "idle", "ok", "joins")
"""What needs a look comes first. `gone`: owned something before the rebalance; `joins`: will, on a copy."""
_MARKS = {NOBODY: "X", "dead": "X", "gone": "-", "idle": "!", "joins": "+"}
_STYLES = {NOBODY: "error", "dead": "dead", "gone": "removed", "idle": "warn", "joins": "added"}
_THREAD_NAME = re.compile(
    r"[^_]*_(?P<host>.+)-\d{13}-(?P<tail>[0-9a-f]{1,8}-\d+)"
    r"|(?P<client>.+)-(?P<start>[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
"""`group_host-millis-8hex-thread`, as ZookeeperConsumerConnector (0.8 to 1.1) makes it; `client-uuid`, as a coordinator
does (GroupMetadata.generateMemberId, 3.9)."""


class Owner(NamedTuple):
    """A thread, or nobody. `state` is one of RANKS, `parts` its partitions, `lag` records, None where not known."""

    name: str
    state: str
    parts: int
    lag: int | None

    @property
    def label(self) -> str:
        """The name without what tells an operator nothing: `host 08c87f94-0`, `client 3f2a1b2c`."""
        found = _THREAD_NAME.fullmatch(self.name)
        return " ".join(part for part in found.groups() if part) if found else self.name

    @property
    def mark(self) -> str:
        """The severity's sign."""
        return _MARKS.get(self.state, "")

    @property
    def style(self) -> str:
        """The style of its name."""
        return _STYLES.get(self.state, "")
