"""What the tree of screen 2 is called: znodes, or what brokers tell, which no ZooKeeper holds. A table of words."""

from collections.abc import Iterable

from tui.actions import TITLES, Action
from tui.data.messages import HeaderFacts

_BROKERS = "kafka://"
_OF_BROKERS = {
    "Znodes": "Metadata",
    "znodes": "metadata",
    "what is really in ZooKeeper": "what the brokers tell, as a tree",
    "the znode, partitions or group behind the selection": "the metadata, partitions or group behind the selection",
    "the values of the znode as they changed, newest first": "its values as they changed, newest first",
    "go to 12:03:58, -5m, e118 (controller), zxid:0x1f": "go to 12:03:58, -5m, e118 (controller)",
    "a command: topic orders, zk /brokers, broker 5, group g": "a command: topic orders, broker 5, group g",
}
"""Said of a ZooKeeper → said where there is none."""


def has_znodes(facts: HeaderFacts) -> bool:
    """Whether the tree is a ZooKeeper's."""
    return facts.generation != "kraft" and not facts.source.startswith(_BROKERS)


def tab_titles(facts: HeaderFacts) -> tuple[str, ...]:
    """The titles of the screens, in their order."""
    return TITLES if has_znodes(facts) else tuple(_OF_BROKERS.get(title, title) for title in TITLES)


def worded(actions: Iterable[Action], facts: HeaderFacts) -> tuple[Action, ...]:
    """The actions as help tells of them."""
    if has_znodes(facts):
        return tuple(actions)
    return tuple(
        each._replace(label=_OF_BROKERS.get(each.label, each.label), help=_OF_BROKERS.get(each.help, each.help))
        for each in actions
    )
