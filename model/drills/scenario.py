"""What is to happen in a drill, and which drills make no sense. It plays nothing."""

from collections.abc import Collection, Iterable

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.words import brokers, listed


class ScenarioError(ValueError):
    """A drill that cannot be played; the message is one line that says why, and what could."""


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """Brokers that die at the same moment, as by kill -9 or with their rack's power."""

    kill: tuple[int, ...]
    """In ascending order."""
    rack: str | None = None
    """The rack that they are, where they were named so."""
    unclean: bool = False
    """Every topic may elect a leader that is not in sync, whatever is configured."""
    restart_after_ms: float | None = None
    """When they are started again, after their death; None: never. Each registers once its old session is over."""


def check(image: ClusterImage, scenario: Scenario) -> None:
    """Raises ScenarioError."""
    live = image.brokers.keys()
    if not live:
        raise ScenarioError("no broker is alive: there is nothing to kill")
    if not scenario.kill:
        raise ScenarioError("nobody to kill: name a broker or a rack")
    unknown = sorted(set(scenario.kill) - live)
    if unknown:
        raise ScenarioError(f"{brokers(unknown)}: not alive here; alive: {listed(sorted(live), 20)}")
    if live <= set(scenario.kill) and scenario.restart_after_ms is None:
        raise ScenarioError(f"that is every live broker ({listed(sorted(live), 20)}): nobody is left to take over")


def of_brokers(ids: Iterable[int]) -> Scenario:
    """The death of these brokers."""
    return Scenario(kill=tuple(sorted(set(ids))))


def of_rack(image: ClusterImage, rack: str) -> Scenario:
    """The death of all live brokers of a rack. Raises ScenarioError for a rack that nobody is in."""
    members = [broker.id for broker in image.brokers.values() if broker.rack == rack]
    if not members:
        racks = sorted({broker.rack for broker in image.brokers.values() if broker.rack})
        raise ScenarioError(f"no live broker is in rack {rack!r}; {_known(racks)}")
    return msgspec.structs.replace(of_brokers(members), rack=rack)


def _known(racks: Collection[str]) -> str:
    return f"racks: {listed(racks, 20)}" if racks else "no broker names its rack"
