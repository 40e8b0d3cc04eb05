"""`kdrill plan`: which replicas to move, at what cost and how near the best, written for Kafka's own tool.

The solver and drills take a while to load:
`plan_made` is imported when the options make sense.
"""

from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import takes_cluster, takes_engine
from tui.cli.plan_options import check, request_of, takes_wish
from tui.engine.opening import Opening

if TYPE_CHECKING:
    from spark_tasks.spark_client import Engine


@click.command()
@takes_cluster
@takes_wish
@takes_engine
def plan(opening: Opening, options: dict[str, Any], engine: "Engine") -> None:
    """Plan which replicas to move: the fewest moves, and how far that is from the best possible.

    Nothing is written to the cluster. Hard rules: a broker holds a partition once, and replicas span as many racks as
    possible. Then come the fewest moves (or bytes) that balance the cluster, then the fewest leader changes, then
    disks and topics.

    Goals can be combined: --remove-broker 3 --add-broker 7:r1 is one plan. Brokers may be dead, or not started yet.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.
    Sizes come from the snapshot
    (size_bytes) or --sizes; racks, beside kafka-topics' text, from what kafka-broker-api-versions printed, in one file.

    --score takes a file of Kafka's reassignment tool (topicmappr and others write the same), what its --generate
    printed, or Cruise Control's answer to proposals?json=true&verbose=true.

    \b
    Example: kdrill plan zk://zk1:2181/kafka --remove-broker 3 -o plan.json --rollback rollback.json
             kdrill plan before-upgrade.json.zst --rebalance --by bytes --within 6h
             kdrill plan prod-eu1 --score plan-of-another-tool.json --rebalance
             kdrill plan described.txt --add-broker 7:r1 -o plan.json --election election.json
             kdrill plan prod-eu1 --each-broker --drain-only

    Exits 0 if there is a plan, 2 if there can be none.
    """
    check(options)
    request = request_of(options)
    from tui.cli.plan_made import make  # noqa: PLC0415 - the solver and drills take a while to load

    make(opening, request, options, engine)
