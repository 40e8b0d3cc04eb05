"""Short names of a group's consumers and threads, `c1`, `c2-0`: the same on every screen, each with a hue.

A consumer's number is the one that its host or client id ends in, where these differ in nothing else; otherwise its
place by name. The full name is what a description of the group shows beside it. Both processes may load this.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.engine.palette import IDENTITIES

JOINS = "~"
"""Begins the name of who joins on a trial: `model.analyses.previews.result.newcomers`."""
MOST_TAIL = 3
"""Digits of a thread's number, at most, that are part of its short name."""
_MADE = re.compile(
    r"[^_]*_(?P<host>.+)-\d{13}-[0-9a-f]{1,8}(-\d+)?"
    r"|(?P<client>.+)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
"""`group_host-millis-8hex`, behind it a thread's number, as ZookeeperConsumerConnector (0.8 to 1.1) makes it;
`client-uuid`, as a coordinator does (GroupMetadata.generateMemberId, 3.9)."""
_NUMBERED = re.compile(r"(.*?)(?<![0-9])(0|[1-9][0-9]?)([^0-9]*)", re.DOTALL)
"""A name's last number, of two digits at most and without zeros before it: anything longer is no short name."""


class Short(NamedTuple):
    """A consumer's name, or a thread's, and the consumer's place in its group, which says its hue."""

    name: str
    place: int

    @property
    def number(self) -> str:
        """What stands in a cell: `2` of `c2`."""
        return self.name[1:].partition("-")[0]

    @property
    def hue(self) -> str:
        """The style of its name, and of bars."""
        return f"hue{self.place % IDENTITIES}"

    @property
    def fill(self) -> str:
        """The style of a cell that is its."""
        return f"fill{self.place % IDENTITIES}"

    @property
    def kept(self) -> str:
        """The style of a cell that stays its, beside those that do not."""
        return f"kept{self.place % IDENTITIES}"

    @property
    def moved(self) -> str:
        """The style of a cell that was somebody else's."""
        return f"moved{self.place % IDENTITIES}"


def readable(name: str) -> str:
    """A name without what tells an operator nothing: the host or the client id."""
    found = _MADE.fullmatch(name)
    return (found["host"] or found["client"]) if found else name


@dataclass(frozen=True)
class Naming:
    """Of one group, by full name. `is_threaded`: a ZooKeeper group, whose consumers own by their threads."""

    consumers: Mapping[str, Short]
    is_threaded: bool = False

    def consumer_of(self, owner: str) -> str:
        """The consumer that a thread is one of; a member of a group with a coordinator is one itself."""
        if not self.is_threaded or owner.startswith(JOINS) or owner in self.consumers:
            return owner
        return owner.rpartition("-")[0] or owner

    def with_others(self, consumers: Iterable[str]) -> "Naming":
        """And with names for those who left, or join: nobody who is there is called otherwise."""
        known = dict(self.consumers)
        taken = {short.name for short in known.values()}
        frames = {frame for name in known if (frame := _numbered(name)[0]) is not None}
        for name in sorted(set(consumers) - known.keys()):
            frame, number = _numbered(name)
            own = f"c{number}"
            if len(frames) != 1 or frame not in frames or own in taken:
                own = f"c{max([int(each[1:]) for each in taken], default=0) + 1}"
            known[name] = Short(own, len(known))
            taken.add(own)
        return Naming(known, self.is_threaded)

    def of(self, owners: Sequence[str]) -> dict[str, Short]:
        """Threads or members, those included that the group does not know (any more)."""
        named = self.with_others(map(self.consumer_of, owners)).consumers
        threads: dict[str, list[str]] = {}
        for owner in dict.fromkeys(owners):
            threads.setdefault(self.consumer_of(owner), []).append(owner)
        is_one_each = max(map(len, threads.values()), default=0) <= 1
        return {
            owner: short if is_one_each or owner == consumer else Short(f"{short.name}-{tail}", short.place)
            for consumer, each in threads.items()
            for short in (named[consumer],)
            for owner, tail in zip(each, _tails(consumer, each), strict=True)
        }


def naming(consumers: Iterable[str], *, is_threaded: bool = False) -> Naming:
    """Of those who are in a group."""
    names = sorted(set(consumers))
    told = [_numbered(name) for name in names]
    numbers = [number for frame, number in told if frame is not None]
    is_told = len(set(numbers)) == len(names) and len({frame for frame, _ in told}) == 1
    chosen = numbers if is_told else range(1, len(names) + 1)
    each = enumerate(zip(names, chosen, strict=True))
    return Naming({name: Short(f"c{number}", place) for place, (name, number) in each}, is_threaded)


def _numbered(name: str) -> tuple[tuple[str, str] | None, int]:
    """What is before and behind the last number of a name as people read it, and that number; None: no short one."""
    found = _NUMBERED.fullmatch(readable(name))
    if found is None:
        return None, 0
    return (found[1], found[3]), int(found[2])


def _tails(consumer: str, threads: Sequence[str]) -> list[str]:
    """What tells the threads of one consumer apart: their numbers, if they are short ones."""
    tails = [thread.removeprefix(f"{consumer}-") for thread in threads]
    is_short = all(tail.isascii() and tail.isdecimal() and len(tail) <= MOST_TAIL for tail in tails)
    return tails if is_short else [str(place) for place in range(len(threads))]
