"""`kdrill status`: what is wrong now, for people, scripts and monitors.

Printed as text, as a kdrill.status/1 object, or for Prometheus; with `--watch` again where something changed.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import Finding
from model.cluster.texts import controller_name, listed
from model.interchange.metrics import cluster_metrics, exposition, unreachable
from model.sources.feed import Moment
from model.sources.source import SourceError
from tui.cli.following import follow, run
from tui.cli.options import takes_source
from tui.cli.output import json_line, put
from tui.engine.messages import Opening
from tui.engine.text import plain


@click.command()
@takes_source
@click.option("--json", "as_json", is_flag=True, help="one kdrill.status/1 object; with --watch, one per line")
@click.option("--prometheus", "as_metrics", is_flag=True, help="metrics in Prometheus' text format")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to this file, atomically")
@click.option("--watch", is_flag=True, help="keep running, and print again whenever something changes")
def status(opening: Opening, as_json: bool, as_metrics: bool, output: Path | None, watch: bool) -> int:
    """What is wrong with the cluster now. Exits 0 if healthy, 2 if there are findings of severity error.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.

    With kafka-topics' text there may be, in the same file, what kafka-broker-api-versions printed: live brokers, racks.

    The kdrill.status/1 object: source, phase (live, stale, snapshot), reason, warning; polled, why brokers are
    polled and KRaft's metadata log is not followed (with --watch); time_ms and zxid (of that log the offset) of the
    facts, and verified_ms, when they were last known to be true; zookeeper_cost, what kdrill asks of it
    (requests_per_s, received_bytes_per_s, sent_bytes_per_s, in_flight, watches, latency_ms, is_holding_back) or
    null; cluster_id, kafka_generation; controller (broker, epoch); brokers (ids), unconfirmed_brokers (of them
    those that only old metadata of a KRaft cluster names); topics, partitions, errors and warnings (numbers), groups
    (their number, or null where the source knows none); findings, worst first: severity, kind, subject, what, why,
    action, partitions, since_ms.

    --prometheus: kdrill_up, kdrill_brokers, kdrill_offline_partitions, kdrill_findings by kind and more. What the
    source does not know is left out. With --watch and -o, for node_exporter's textfile collector: the file is also
    written every 10 s; alert on time() - kdrill_verified_timestamp_seconds, too.

    \b
    Example: kdrill status zk://zk1:2181/kafka --json
             kdrill status prod-eu1 --prometheus --watch -o /var/lib/node_exporter/kdrill-prod-eu1.prom
             kafka-topics.sh --bootstrap-server b1:9092 --describe | kdrill status -
    """
    if as_json and as_metrics:
        raise click.UsageError("--json and --prometheus exclude each other")
    if as_metrics and watch and output is None:
        raise click.UsageError("--prometheus with --watch writes a file again and again: say -o FILE")
    showing = _showing(opening, as_json=as_json, as_metrics=as_metrics, output=output, watch=watch)
    try:
        run(follow(opening, showing.see))
    except SourceError:
        showing.end()
        raise
    return showing.code


def _showing(opening: Opening, *, as_json: bool, as_metrics: bool, output: Path | None, watch: bool) -> "StatusOutput":
    cluster = opening.name or opening.source
    if as_metrics:
        return StatusOutput(partial(metrics_of, cluster=cluster), cluster, output, watch)
    return StatusOutput(json_of if as_json else text_of, None, output, watch)


FORMAT = "kdrill.status/1"
SIGNS = {"error": "X", "warn": "!", "info": "~"}


def text_of(moment: Moment) -> str:
    """A line for the cluster and one for each finding, worst first."""
    return "".join(f"{line}\n" for line in _lines(moment))


def json_of(moment: Moment) -> str:
    """One line, in ASCII: names come from znodes, and it may be read on a terminal."""
    return json_line(msgspec.to_builtins(document(moment))) + "\n"


def metrics_of(moment: Moment, cluster: str) -> str:
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
    if controller.broker is None:
        return f"no controller{epoch}"
    return f"controller {controller_name(controller.broker, image.generation)}{epoch}"


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
