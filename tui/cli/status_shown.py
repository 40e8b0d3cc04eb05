"""A moment of a cluster as `kdrill status` prints it: for people, as a kdrill.status/1 object, and for Prometheus.

With `--watch` it is printed again where something changed. Images and findings take long to load; `status` loads this
module when its options make sense.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import Finding
from model.cluster.texts import listed
from model.interchange.metrics import cluster_metrics, exposition, unreachable
from model.sources.feed import Moment
from tui.cli.output import json_line, put
from tui.engine.text import plain

FORMAT = "kdrill.status/1"
SIGNS = {"error": "X", "warn": "!", "info": "~"}


def as_text(moment: Moment) -> str:
    """A line for the cluster and one for each finding, worst first."""
    return "".join(f"{line}\n" for line in _lines(moment))


def as_json(moment: Moment) -> str:
    """One line, in ASCII: names come from znodes, and it may be read on a terminal."""
    return json_line(msgspec.to_builtins(document(moment))) + "\n"


def as_metrics(moment: Moment, cluster: str) -> str:
    """Prometheus text; `cluster` is what its label says."""
    families = cluster_metrics(
        plain(cluster),
        moment.image,
        moment.findings,
        is_up=moment.status.phase in ("live", "snapshot"),
        verified_ms=moment.verified_ms,
        now_ms=int(time.time() * 1000),
    )
    return exposition(families)


def as_metrics_unreachable(cluster: str) -> str:
    """Prometheus text of a cluster that cannot be read."""
    return exposition(unreachable(plain(cluster)))


def document(moment: Moment) -> dict[str, object]:
    """The kdrill.status/1 object: counts, controller, findings worst first."""
    image, findings = moment.image, moment.findings.found
    return {
        "format": FORMAT,
        "source": image.provenance.source,
        "phase": moment.status.phase,
        "reason": moment.status.reason,
        "warning": moment.status.warning,
        "polled": moment.status.polled,
        "verified_ms": moment.status.verified_ms,
        "zookeeper_cost": moment.status.cost,
        "time_ms": image.provenance.time_ms,
        "zxid": image.provenance.zxid,
        "cluster_id": image.cluster_id,
        "kafka_generation": image.generation,
        "controller": {"broker": image.controller.broker, "epoch": image.controller.epoch},
        "brokers": sorted(image.brokers),
        "unconfirmed_brokers": image.unconfirmed_brokers,
        "topics": len(image.topics),
        "partitions": image.partition_count,
        "groups": image.group_count,
        "errors": sum(finding.severity == "error" for finding in findings),
        "warnings": sum(finding.severity == "warn" for finding in findings),
        "findings": findings,
    }


def _lines(moment: Moment) -> Iterator[str]:
    image = moment.image
    unsure = listed(image.unconfirmed_brokers)
    told = f"{len(image.brokers)} brokers" + (f" ({unsure} unconfirmed)" if unsure else "")
    head = f"{image.provenance.source}: {_controller(image)}, {told}, "
    yield plain(f"{head}{len(image.topics):,} topics, {image.partition_count:,} partitions")
    if moment.status.phase == "stale":
        yield plain(f"! STALE: {moment.status.reason}")
    if moment.status.warning:
        yield plain(f"! {moment.status.warning}")
    if moment.status.polled:
        yield plain(f"polled: {moment.status.polled}")
    for finding in moment.findings.found:
        yield _finding_line(finding)
    if not moment.findings.found:
        yield "nothing is wrong"


def _controller(image: ClusterImage) -> str:
    if "/controller" in image.unreadable:
        return "controller unknown"
    controller = image.controller
    epoch = "" if controller.epoch is None else f" e{controller.epoch}"
    return f"no controller{epoch}" if controller.broker is None else f"controller b{controller.broker}{epoch}"


def _finding_line(finding: Finding) -> str:
    return plain(f"{SIGNS[finding.severity]} {finding.subject}: {finding.what}. {finding.action}")


HEALTHY, FINDINGS = 0, 2
REFRESH_S = 10.0
"""How often metrics are written again while nothing changes, so that their age stays small."""


@dataclass
class StatusOutput:
    """What was shown last, and how. `cluster` is None where it is not shown to Prometheus."""

    shown: Callable[[Moment], str]
    cluster: str | None
    output: Path | None
    watches: bool
    code: int = HEALTHY
    last: tuple[object, ...] = ()
    last_s: float = 0.0

    def see(self, moment: Moment) -> bool:
        """Prints a moment that differs; whether to go on. Raises click.ClickException if it cannot be written."""
        found, now_s = moment.findings.found, time.monotonic()
        self.code = FINDINGS if any(one.severity == "error" for one in found) else HEALTHY
        source = (moment.status.phase, moment.status.warning, moment.status.polled)
        facts = (found, source, moment.image.controller, frozenset(moment.image.brokers))
        is_due = self.cluster is not None and now_s - self.last_s >= REFRESH_S
        if facts != self.last or is_due:
            self.last, self.last_s = facts, now_s
            put(self.shown(moment), self.output)
        return self.watches and moment.status.phase != "snapshot"

    def end(self) -> None:
        """Tells Prometheus that the cluster cannot be read."""
        if self.cluster is not None:
            put(as_metrics_unreachable(self.cluster), self.output)
