"""`kdrill status`: what is wrong now, for people, scripts and monitors."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model.sources.source import SourceError
from tui.cli.following import follow, run
from tui.cli.options import takes_source
from tui.engine.opening import Opening

if TYPE_CHECKING:
    from tui.cli.status_shown import StatusOutput


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
    # Images and findings take long to load, and no help needs them.
    from tui.cli import status_shown  # noqa: PLC0415
    from tui.cli.status_shown import StatusOutput  # noqa: PLC0415

    cluster = opening.name or opening.source
    if as_metrics:
        return StatusOutput(partial(status_shown.as_metrics, cluster=cluster), cluster, output, watch)
    return StatusOutput(status_shown.as_json if as_json else status_shown.as_text, None, output, watch)
