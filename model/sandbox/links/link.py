"""Which links there are, and how they are named. Values only.

A place is a broker's id as text, `zookeeper` or `clients`. A link joins a broker and any other place, both ways.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

from model.sandbox.errors import SandboxError

ZOOKEEPER = "zookeeper"
CLIENTS = "clients"

Link = tuple[str, str]
"""In normal form: the lower broker first, a broker before what is none."""


def links_of(brokers: Iterable[int]) -> Iterator[Link]:
    """Every link among these brokers, which ascend, and around them."""
    names = [str(broker) for broker in brokers]
    yield from ((name, ZOOKEEPER) for name in names)
    yield from ((name, CLIENTS) for name in names)
    yield from combinations(names, 2)


def link_between(between: tuple[str, str], known: Iterable[Link]) -> Link:
    """The normal form of a link that is known. Raises SandboxError for what is none."""
    links = set(known)
    places = [place.strip().removeprefix("broker-") for place in between]
    for link in ((places[0], places[1]), (places[1], places[0])):
        if link in links:
            return link
    brokers = sorted((place for place, other in links if other == ZOOKEEPER), key=int)
    raise SandboxError(
        f"no link between {between[0]!r} and {between[1]!r}: name a broker ({', '.join(brokers)}) and another one, "
        f"or {ZOOKEEPER}, or {CLIENTS}"
    )


def in_words(link: Link) -> str:
    """`between broker 1 and broker 2`, `between broker 1 and ZooKeeper`."""
    return " and ".join(f"broker {place}" if place.isdigit() else _WORDS[place] for place in link)


_WORDS = {ZOOKEEPER: "ZooKeeper", CLIENTS: "its clients"}
