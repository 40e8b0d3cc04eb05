"""What a partition's health depends on besides the partition: who lives, racks, the cluster's min ISR, what was read.

Takes it from an image and judges nothing.
"""

from dataclasses import dataclass

from model.cluster.cluster_image import ClusterImage

MIN_ISR = "min.insync.replicas"
_BROKER_IDS = "/brokers/ids"
_TOO_LONG = 12
"""Digits; Python refuses to read thousands of them, and a znode may hold a million."""


@dataclass(frozen=True)
class Surroundings:
    """Compared by value: while it is equal, a topic that did not change needs no new look."""

    live: frozenset[int]
    racks: tuple[tuple[int, str], ...]
    min_isr: int
    unreadable: frozenset[str]
    brokers_known: bool
    fenced: frozenset[int] = frozenset()
    """Of those that do not live, those that are registered and fenced."""

    def dead(self, broker: int) -> bool:
        """Whether a broker is known not to live."""
        return self.brokers_known and broker not in self.live

    def standing(self, broker: int) -> str:
        """up, down or fenced."""
        return "fenced" if broker in self.fenced else "down" if self.dead(broker) else "up"


def surroundings(image: ClusterImage) -> Surroundings:
    """Of an image. A broker whose registration cannot be read lives all the same."""
    unreadable = {path.removeprefix(f"{_BROKER_IDS}/") for path in image.unreadable if path.startswith(_BROKER_IDS)}
    defaults = image.configs.get("brokers/<default>", {})
    return Surroundings(
        live=frozenset(image.brokers)
        | {int(name) for name in unreadable if name.isdecimal() and len(name) < _TOO_LONG},
        racks=tuple(sorted((broker.id, broker.rack) for broker in image.brokers.values() if broker.rack)),
        min_isr=at_least_one(defaults.get(MIN_ISR)),
        unreadable=frozenset(path for path in image.unreadable if path.startswith("/brokers/topics/")),
        brokers_known=_BROKER_IDS not in image.unreadable,
        fenced=frozenset(image.fenced),
    )


def at_least_one(setting: str | None, default: int = 1) -> int:
    """A positive int32 from a setting's text; `default` where it is unset or makes no sense."""
    text = (setting or "").strip()
    return min(max(1, int(text)), 2**31 - 1) if text.isdecimal() and len(text) < _TOO_LONG else default
