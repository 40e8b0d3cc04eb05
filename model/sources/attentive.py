"""A source that asks for what is costly only as long as somebody wants it, and holds a tree to browse."""

from typing import Protocol, runtime_checkable

from model.hosts.zookeeper.protocol import BrowsesZnodes

CONFIGS, GROUPS, LOG_DIRS = "configs", "groups", "log-dirs"
COSTLY = frozenset({CONFIGS, GROUPS, LOG_DIRS})
"""What costs much to ask for."""
LEASE_S = 60.0
"""So long something is wanted after somebody said so: what is in sight says so at least twice as often."""


@runtime_checkable
class Attentive(Protocol):
    """What is not wanted stays as it was told last."""

    @property
    def reader(self) -> BrowsesZnodes:
        """What was told last, to browse like znodes."""
        ...

    def want(self, *what: str) -> None:
        """Some of COSTLY are in sight, or needed; from any thread. Others that nobody wanted of late rest."""
        ...
