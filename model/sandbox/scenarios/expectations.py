"""Whether what is expected of the cluster is so, looked up in its image. Pure."""

from collections.abc import Callable, Mapping

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.sandbox.scenarios.scenario import Expectation

NOBODY = -1
MOST_NAMED = 3


class Seen(msgspec.Struct, frozen=True):
    """The cluster as ZooKeeper has it, and the brokers whose processes run: ZooKeeper misses the dead after a while."""

    image: ClusterImage
    running: frozenset[int]


class Before(msgspec.Struct, frozen=True):
    """Who had what before the last fault."""

    controller: int | None = None
    leaders: Mapping[TopicPartition, int] = {}


def leaders_in(image: ClusterImage) -> dict[TopicPartition, int]:
    """Every partition's leader, NOBODY for none."""
    return {
        TopicPartition(topic.name, number): leader
        for topic in image.topics.values()
        for number, _, leader, _ in topic.rows()
    }


def before_in(image: ClusterImage) -> Before:
    """What a fault may change."""
    return Before(controller_in(image), leaders_in(image))


def controller_in(image: ClusterImage) -> int | None:
    """The controller's id; None while there is none."""
    return image.controller.broker


def unmet(expectation: Expectation, seen: Seen, before: Before) -> str:
    """Why it is not so; empty if it is. Raises KeyError for what the cluster's image does not tell."""
    return _CHECKS[expectation.expect](expectation, seen, before)


def _led(_expectation: Expectation, seen: Seen, _before: Before) -> str:
    leaderless = [each for each, leader in leaders_in(seen.image).items() if leader not in seen.running]
    return _named(leaderless, "without a leader that runs")


def _in_sync(_expectation: Expectation, seen: Seen, _before: Before) -> str:
    behind = [
        TopicPartition(topic.name, number)
        for topic in seen.image.topics.values()
        for number, replicas, leader, isr in topic.rows()
        if leader not in seen.running or set(replicas) != set(isr) or not seen.running.issuperset(replicas)
    ]
    return _named(behind, "with replicas out of sync")


def _controller(expectation: Expectation, seen: Seen, before: Before) -> str:
    controller = controller_in(seen.image)
    if controller not in seen.running:
        return "there is no controller that runs"
    if expectation.moved and controller == before.controller:
        return f"broker {controller} is the controller still"
    if expectation.broker not in (None, controller):
        return f"broker {controller} is the controller"
    return ""


def _offline(expectation: Expectation, seen: Seen, _before: Before) -> str:
    leader = _leader_of(expectation, seen.image)
    return "" if leader == NOBODY else f"{expectation.partition} is led by broker {leader}"


def _leader(expectation: Expectation, seen: Seen, before: Before) -> str:
    leader = _leader_of(expectation, seen.image)
    if leader not in seen.running:
        return f"{expectation.partition} has no leader that runs"
    earlier = next((each for name, each in before.leaders.items() if str(name) == expectation.partition), None)
    if (expectation.moved and leader == earlier) or expectation.broker not in (None, leader):
        return f"{expectation.partition} is led by broker {leader}"
    return ""


def _leader_of(expectation: Expectation, image: ClusterImage) -> int | None:
    return next((each for name, each in leaders_in(image).items() if str(name) == expectation.partition), None)


def _named(partitions: list[TopicPartition], what: str) -> str:
    if not partitions:
        return ""
    names = ", ".join(map(str, sorted(partitions)[:MOST_NAMED]))
    more = f" and {len(partitions) - MOST_NAMED} more" if len(partitions) > MOST_NAMED else ""
    return f"{what}: {names}{more}"


_CHECKS: Mapping[str, Callable[[Expectation, Seen, Before], str]] = {
    "led": _led,
    "in-sync": _in_sync,
    "controller": _controller,
    "offline": _offline,
    "leader": _leader,
}
