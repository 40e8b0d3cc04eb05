"""`kdrill plan`: which replicas to move, at what cost and how near the best, written for Kafka's own tool.

Here are its options, in the order of its help, what they ask for and which exclude each other. The solver and drills
take a while to load: `plan_made` is imported when the options make sense.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from model.planning.request import Batching, NewBroker, PlanRequest, Reach, Throttling
from tui.cli.options import takes_cluster, takes_engine, with_all
from tui.cli.output import Duration
from tui.engine.messages import Opening

if TYPE_CHECKING:
    from spark_tasks.spark_client import Engine


_UNITS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate("kmgt", 1)},
    **{f"{unit}i": 1024**power for power, unit in enumerate("kmgt", 1)},
}


Options = Mapping[str, Any]
"""By the names of the parameters."""


class Amount(click.ParamType):
    """A number of bytes, or of bytes a second: `500MB`, `1.5GiB`, `90000000`, `50MB/s`."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([kmgt]i?)?b?(?:/s)?", str(value).strip().lower())
        amount = round(float(found[1]) * _UNITS[found[2] or ""]) if found else 0
        return amount if amount >= 1 else self.fail(f"{value!r} is no number of bytes: write it as 500MB", param, ctx)


def request_of(options: Options) -> PlanRequest:
    """The request that the options make. Raises click.UsageError."""
    return PlanRequest(
        remove=tuple(_id(word, "--remove-broker") for word in _words(options["remove"])),
        add=tuple(_new(word) for word in _words(options["add"])),
        replace=tuple(_pair(word) for word in _words(options["swap"])),
        replication_factor=options["factor"],
        reach=_reach(options),
        by=options["by"],
        tolerance_percent=options["tolerance"],
        capacity=options["capacity"],
        topics=options["topics"],
        exclude=options["exclude"],
        batching=Batching(options["batch_size"], options["batch_bytes"], options["batch_count"]),
        throttling=Throttling(options["throttle"], options["within"]),
    )


def names_a_goal(options: Options) -> bool:
    """Whether the options say what is to be planned."""
    goals = ("remove", "add", "swap", "rebalance", "leaders_only", "fix_racks")
    return any(options[goal] for goal in goals) or options["factor"] is not None


def check(options: Options) -> None:
    """Raises click.UsageError for options that make no sense together."""
    changes = options["remove"] or options["add"] or options["swap"] or options["factor"] is not None
    reaches = [name for name in ("rebalance", "leaders_only", "fix_racks", "drain_only") if options[name]]
    if len(reaches) > 1:
        _refuse(f"{_flag(reaches[0])} and {_flag(reaches[1])} exclude each other")
    if options["leaders_only"] and changes:
        _refuse("--leaders-only moves no data: plan brokers and replication factors without it")
    if options["drain_only"] and not (options["remove"] or options["swap"] or options["each_broker"]):
        _refuse("--drain-only needs a broker that leaves: --remove-broker or --replace-broker")
    if options["factor"] is not None and not options["topics"]:
        _refuse("--replication-factor needs --topic: which topics? ('*' for all)")
    if options["throttle"] is not None and options["within"] is not None:
        _refuse("--throttle and --within exclude each other: one follows from the other")
    if options["batch_count"] is not None and (options["batch_bytes"] is not None or options["size_given"]):
        _refuse("--batches excludes --batch-size and --batch-bytes")
    if not (names_a_goal(options) or options["score"] or options["each_broker"]):
        _refuse("nothing to plan: say --rebalance, --remove-broker ID, --add-broker ID or another goal")
    if options["each_broker"] and any(options[name] for name in ("output", "rollback", "election", "score")):
        _refuse("--each-broker makes no plan to keep: -o, --rollback, --election and --score make no sense with it")
    if options["batch_files"] and not (options["output"] or options["rollback"]):
        _refuse("--batch-files needs -o or --rollback: where?")


def _reach(options: Options) -> Reach:
    if options["leaders_only"]:
        return "leaders"
    if options["fix_racks"]:
        return "racks"
    if options["drain_only"]:
        return "forced"
    balances = options["rebalance"] or options["remove"] or options["add"]
    return "balance" if balances or not names_a_goal(options) else "forced"


def _words(texts: tuple[str, ...]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",")]


def _id(word: str, option: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 11 and int(word) < 2**31):
        _refuse(f"{option}: {word!r} is no broker id")
    return int(word)


def _new(word: str) -> NewBroker:
    number, colon, rack = word.partition(":")
    if colon and not rack:
        _refuse(f"--add-broker: {word!r}: write it as ID or ID:RACK")
    return NewBroker(_id(number, "--add-broker"), rack or None)


def _pair(word: str) -> tuple[int, int]:
    old, colon, new = word.partition(":")
    if not colon:
        _refuse(f"--replace-broker: {word!r}: write it as OLD:NEW")
    return _id(old, "--replace-broker"), _id(new, "--replace-broker")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _refuse(reason: str) -> NoReturn:
    raise click.UsageError(reason)


Command = Callable[..., Any]

_FILE = click.Path(path_type=Path)
_GOALS = (
    click.option(
        "--remove-broker", "remove", metavar="ID[,ID...]", multiple=True, help="brokers to remove, dead or alive"
    ),
    click.option("--add-broker", "add", metavar="ID[:RACK]", multiple=True, help="brokers to add, registered or not"),
    click.option(
        "--replace-broker", "swap", metavar="OLD:NEW", multiple=True, help="NEW takes over each replica of OLD"
    ),
    click.option("--rebalance", is_flag=True, help="balance replicas, leaders and disks with the fewest moves"),
    click.option("--leaders-only", is_flag=True, help="balance leaders by reordering replicas: no data moves"),
    click.option("--fix-racks", is_flag=True, help="only spread partitions over more racks"),
    click.option(
        "--replication-factor",
        "factor",
        metavar="N",
        type=click.IntRange(1, 32_767),
        help="new replication factor of the topics of --topic",
    ),
    click.option("--drain-only", is_flag=True, help="with --remove-broker: move only their replicas"),
)
_BOUNDS = (
    click.option(
        "--topic", "topics", metavar="NAME", multiple=True, help="only these topics; may be a pattern: 'orders-*'"
    ),
    click.option("--exclude", metavar="NAME", multiple=True, help="never these topics; may be a pattern"),
    click.option(
        "--by",
        type=click.Choice(["count", "bytes"]),
        default="count",
        show_default=True,
        help="minimise replicas moved, or bytes moved",
    ),
    click.option(
        "--tolerance",
        metavar="PERCENT",
        type=click.FloatRange(0, 1000),
        default=0.0,
        help="allowed distance from the mean; more takes fewer moves",
    ),
    click.option("--capacity", metavar="BYTES", type=Amount(), help="most that a broker may hold, as 4TB; needs sizes"),
    click.option("--sizes", type=_FILE, help="a snapshot with size_bytes, or JSON: topic → partition → bytes"),
)
_RUNNING = (
    click.option(
        "--batch-size",
        metavar="N",
        type=click.IntRange(min=1),
        default=Batching().replicas,
        show_default=True,
        help="replicas copied to or from one broker per batch",
    ),
    click.option("--batch-bytes", metavar="BYTES", type=Amount(), help="bytes copied to or from one broker per batch"),
    click.option("--batches", "batch_count", metavar="N", type=click.IntRange(min=1), help="maximum number of batches"),
    click.option(
        "--throttle", metavar="BYTES/S", type=Amount(), help="report how long the moves take at this rate, as 50MB"
    ),
    click.option(
        "--within",
        metavar="TIME",
        type=Duration("no time: write it as 90m, 6h or 2d"),
        help="report the throttle needed to finish in this time, as 6h",
    ),
)
_RESULTS = (
    click.option("-o", "--output", type=_FILE, help="write the plan for kafka-reassign-partitions --execute"),
    click.option("--rollback", type=_FILE, help="write the plan that undoes it, for the same tool"),
    click.option("--election", type=_FILE, help="write the final leaders for kafka-leader-election"),
    click.option(
        "--format",
        "file_format",
        type=click.Choice(["kafka", "topicmappr"]),
        default="kafka",
        help="of these files; topicmappr: nothing but the moves, as --map-string of topicmappr takes them",
    ),
    click.option("--batch-files", is_flag=True, help="with -o and --rollback: also a numbered file for each batch"),
    click.option(
        "--score", metavar="FILE", type=_FILE, help="make no plan: score the one in this file by the same rules"
    ),
    click.option("--each-broker", is_flag=True, help="what removing each broker in turn would cost"),
    click.option("--all", "everything", is_flag=True, help="list all brokers, batches and partitions"),
    click.option("--json", "as_json", is_flag=True, help="one kdrill.plan/1 object (--each-broker: kdrill.plans/1)"),
)


def takes_wish(command: Command) -> Command:
    """All that may be wished of a plan, which the command gets as `options`, by name."""

    @wraps(command)
    def with_options(**given: Any) -> Any:
        size = click.get_current_context().get_parameter_source("batch_size")
        wish = {name: given.pop(name) for name in _NAMES}
        return command(options={**wish, "size_given": size is ParameterSource.COMMANDLINE}, **given)

    return with_all(with_options, *_GOALS, *_BOUNDS, *_RUNNING, *_RESULTS)


_NAMES: tuple[str, ...] = (
    *("remove", "add", "swap", "rebalance", "leaders_only", "fix_racks", "factor", "drain_only"),
    *("topics", "exclude", "by", "tolerance", "capacity", "sizes"),
    *("batch_size", "batch_bytes", "batch_count", "throttle", "within"),
    *("output", "rollback", "election", "file_format", "batch_files"),
    *("score", "each_broker", "everything", "as_json"),
)


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

    make(opening, request, {**options, "has_goal": names_a_goal(options)}, engine)
