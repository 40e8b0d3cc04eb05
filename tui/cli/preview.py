"""`kdrill preview`: what a rebalance would make of consumer groups, every strategy side by side."""

from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import takes_cluster, takes_engine
from tui.engine.messages import Opening

if TYPE_CHECKING:
    from spark_tasks.spark_client import Engine

FORM = """
\b
kdrill.preview/1: {"format", "groups": [{"group", "kind", "state", "uses",
  "consumers", "members", "topics", "partitions", "lag", "notes",
  "now": FIGURES, "strategies": {NAME: {"rebalanced": FIGURES or null,
    "refused", "differs_from_kafka": TEXT or null,
    "joined": FIGURES, "worst_leave": LEAVE, "leaves": [LEAVE],
    "explanation": {"balance", "partitions"}}}}],
  "estate": {"now": TOTAL, "strategies": [{"strategy", "refused",
    "rebalanced": TOTAL, "leaves": TOTAL, "joins": TOTAL}]},
  "provenance": {"source", "zxid", "parameters", "engine", "seconds"}}
FIGURES: {"members", "idle", "partitions_min", "partitions_max", "lag_min",
  "lag_max", "moves", "moves_lower_bound", "waits", "unowned", "spread",
  "shares": {MEMBER: {"partitions", "lag"}}}; shares and leaves with --group
TOTAL: {"groups", "moving", "moves", "moves_lower_bound", "idle", "with_idle",
  "spread", "lag_max", "lag_group"}: all groups that the strategy takes; of
  "leaves", each group's worst consumer fails
LEAVE: FIGURES, and {"consumer", "handed_on"}
"""


@click.command(epilog=FORM)
@takes_cluster
@click.option("--group", "keys", metavar="NAME", multiple=True, help="only this group; may be repeated")
@click.option("--strategy", "strategies", metavar="NAME", multiple=True, help="only this strategy; may be repeated")
@click.option("--each-leaves", is_flag=True, help="also fail each consumer in turn")
@click.option("--join", metavar="N", type=click.IntRange(0, 10_000), default=0, help="also let N consumers join")
@click.option("--explain", "explained", is_flag=True, help="with --group: why each partition goes where it goes")
@click.option("--summary", "is_summed_up", is_flag=True, help="sum all groups up by strategy; the default above 12")
@click.option("--all", "everything", is_flag=True, help="list everything")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.preview/1 object")
@takes_engine
def preview(opening: Opening, engine: "Engine", as_json: bool, **options: Any) -> None:
    """Preview rebalances: who would get how much by each strategy, and what would move. Nothing is changed.

    Partitions and lag are the least and the most that a member gets; in a ZooKeeper group a member is a thread. Moves
    are partitions that a member has now and would lose; "at least" is the fewest moves for the same balance. The
    strategy that a group uses now is marked *. For ZooKeeper groups range and roundrobin are Kafka 0.8's.

    A consumer that joins (--join) is assumed to subscribe as most members do, and to sort last.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.
    ZooKeeper does not know the groups that
    brokers coordinate: a snapshot may hold them, or --bootstrap asks brokers.

    \b
    Example: kdrill preview zk://zk1:2181/kafka --group payments --each-leaves
             kdrill preview noon.json.zst --strategy sticky --join 2 --json
             kdrill preview noon.json.zst --summary --each-leaves --join 1

    Exits 0, or 2 where there is no such group or strategy.
    """
    if options["explained"] and not options["keys"]:
        raise click.UsageError("--explain takes --group NAME: of which group?")
    from tui.cli.preview_made import PreviewOptions, make  # noqa: PLC0415 - the assignors take a while to load

    make(opening, PreviewOptions(**options), engine, as_json=as_json)
