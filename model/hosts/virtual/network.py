"""What becomes of a message on its way. It moves nothing; links that are cut are not asked about."""

from typing import Final, Protocol

import msgspec

ZOOKEEPER: Final = -1
"""The ensemble, where otherwise a broker's id stands."""


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A message that sets out; `number` counts all messages of a cluster, so that dice can be a function of it."""

    number: int
    source: int
    target: int
    at_ms: float


class Fate(msgspec.Struct, frozen=True, gc=False):
    """Lost, or `late_ms` later than assumed. Messages of one link stay in order: a late one holds up the next."""

    late_ms: float = 0.0
    lost: bool = False


ON_TIME: Final = Fate()
LOST: Final = Fate(lost=True)


class Network(Protocol):
    """Decides on each message. It must be a function of the passage alone: then every run is the same."""

    def __call__(self, passage: Passage, /) -> Fate:
        """The message's fate."""
        ...


def perfect(_passage: Passage) -> Fate:
    """Everything arrives, and on time."""
    return ON_TIME
