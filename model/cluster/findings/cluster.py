"""Findings about the cluster as a whole: controller, brokers, balance, preferred elections, unreadable znodes."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.finding import Finding, finding
from model.cluster.findings.surroundings import Surroundings
from model.cluster.findings.tally import Tally
from model.cluster.words import MOST, counted, listed

SKEW_RATIO = 1.25
SKEW_LEAST = 5
"""A broker is skewed when it has this ratio of the mean, and at least this many more."""


class ClusterCase(NamedTuple):
    """What the checks of this module look at."""

    image: ClusterImage
    around: Surroundings
    tally: Tally


def _no_brokers(case: ClusterCase) -> Iterator[Finding]:
    if case.around.brokers_known and not case.around.live:
        yield finding(
            "no-brokers",
            "brokers",
            "no broker is registered",
            "Nothing can be read or written. Every broker is down, or has lost its ZooKeeper session.",
            "Start the brokers; see their logs for ZooKeeper session errors.",
        )


def _controller(case: ClusterCase) -> Iterator[Finding]:
    controller = case.image.controller
    if case.image.generation == "kraft" or "/controller" in case.image.unreadable:
        return
    if controller.broker is None:
        yield finding(
            "no-controller",
            "controller",
            "no broker is the controller",
            "Nobody elects leaders, creates topics or deletes them until a broker wins the election.",
            "If it lasts longer than a ZooKeeper session, see whether any broker can reach ZooKeeper.",
            since_ms=controller.since_ms,
        )
    elif case.around.dead(controller.broker):
        yield finding(
            "controller-not-live",
            "controller",
            f"broker {controller.broker} is the controller and is not registered",
            "Its session may be about to end, or it runs without its registration: decisions may hang.",
            "If it lasts, restart that broker; another one then wins the election.",
            since_ms=controller.since_ms,
        )


def _controller_epoch(case: ClusterCase) -> Iterator[Finding]:
    unreadable = "/controller_epoch" in case.image.unreadable or case.image.generation == "kraft"
    if case.image.controller.epoch is None and not unreadable:
        yield finding(
            "no-controller-epoch",
            "controller",
            "there is no controller epoch",
            "No controller was ever elected here, or /controller_epoch was removed: brokers cannot tell an old "
            "controller from a new one.",
            "On a new cluster, start the brokers. Otherwise find out who removed the znode before restarting anything.",
        )


def _dead_brokers(case: ClusterCase) -> Iterator[Finding]:
    tally = case.tally
    for broker in sorted(broker for broker in tally.replicas if case.around.dead(broker)):
        yield finding(
            "dead-broker",
            f"broker {broker}",
            f"not registered, yet it has {counted(tally.replicas[broker], 'replica')}: "
            f"{tally.missing[broker]:,} out of sync, {tally.leaders[broker]:,} still named leader",
            "Its partitions have one copy fewer, and deletions and reassignments that need it wait.",
            "Start it again. If it will not come back, move its replicas to other brokers.",
        )


def _off_preferred(case: ClusterCase) -> Iterator[Finding]:
    for broker, count in sorted(case.tally.off_preferred.items()):
        yield finding(
            "non-preferred-leader",
            f"broker {broker}",
            f"{count:,} of {counted(case.tally.preferred[broker], 'partition')} that prefer it are led by another, "
            "though it is live and in sync",
            "Leaders are where a failure left them, so load is not where it was planned.",
            "Run a preferred replica election; with auto.leader.rebalance.enable Kafka does it by itself above 10%.",
        )


def _leader_skew(case: ClusterCase) -> Iterator[Finding]:
    return _skew(case, "leader-skew", case.tally.leaders, _LED)


def _replica_skew(case: ClusterCase) -> Iterator[Finding]:
    return _skew(case, "replica-skew", case.tally.replicas, _HELD)


def _skew(case: ClusterCase, kind: str, counts: Counter[int], what: tuple[str, str]) -> Iterator[Finding]:
    live = sorted(case.around.live)
    mean = sum(counts[broker] for broker in live) / max(1, len(live))
    for broker in live:
        count = counts[broker]
        over = count >= mean * SKEW_RATIO and count >= mean + SKEW_LEAST
        bare = count == 0 and mean >= SKEW_LEAST
        if over or bare:
            yield finding(
                kind,
                f"broker {broker}",
                f"{counted(count, *what)}, the mean is {mean:,.0f}",
                "It carries more than its share." if over else "It carries nothing while the others work.",
                "Plan a rebalance, unless this is meant. A preferred election helps where leaders moved in a failure.",
            )


_LED = ("partition led by it", "partitions led by it")
_HELD = ("replica on it", "replicas on it")


def _preferred_election(case: ClusterCase) -> Iterator[Finding]:
    asked = case.image.admin.preferred_election
    if asked:
        yield finding(
            "preferred-election-pending",
            "/admin/preferred_replica_election",
            f"a preferred replica election waits for {counted(len(asked), 'partition')}: {listed(sorted(asked))}",
            "The controller removes the znode when it is done; until then no other election can be asked for.",
            "If it lasts, see whether there is a controller and whether it is at work.",
        )


def unreadable_findings(image: ClusterImage) -> Iterator[Finding]:
    """One for each znode that could not be used, and one for the rest of many below the same place."""
    places: dict[str, list[str]] = {}
    for path in sorted(image.unreadable):
        places.setdefault("/".join(path.split("/")[:3]), []).append(path)
    why = "What it says is missing here; everything else is shown as it is."
    action = "Look at it in the znode tree; check the permissions of the session."
    for place, paths in places.items():
        for path in paths[:MOST]:
            yield finding("unreadable", path, f"cannot be used: {image.unreadable[path]}", why, action)
        if len(paths) > MOST:
            yield finding("unreadable", place, f"{len(paths) - MOST:,} more znodes below cannot be used", why, action)


CLUSTER_CHECKS: tuple[Callable[[ClusterCase], Iterator[Finding]], ...] = (
    _no_brokers,
    _controller,
    _controller_epoch,
    _dead_brokers,
    _off_preferred,
    _leader_skew,
    _replica_skew,
    _preferred_election,
    lambda case: unreadable_findings(case.image),
)


def cluster_findings(case: ClusterCase) -> Iterator[Finding]:
    """What is wrong with the cluster as a whole."""
    for check in CLUSTER_CHECKS:
        yield from check(case)
