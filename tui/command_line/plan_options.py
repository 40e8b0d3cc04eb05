"""The options of `kdrill plan`, in the order in which its help lists them. What they mean is `plan_wish`'s."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from model.planning.request import Batching
from tui.command_line.plan_wish import Amount, Duration

Command = Callable[..., Any]

_FILE = click.Path(path_type=Path)
_GOALS = (
    click.option(
        "--remove-broker", "remove", metavar="ID[,ID...]", multiple=True, help="brokers that leave, dead or not"
    ),
    click.option(
        "--add-broker", "add", metavar="ID[:RACK]", multiple=True, help="brokers that come, registered or not"
    ),
    click.option(
        "--replace-broker", "swap", metavar="OLD:NEW", multiple=True, help="NEW gets what OLD has, place by place"
    ),
    click.option("--rebalance", is_flag=True, help="even replicas, leaders and disks with the fewest moves"),
    click.option("--leaders-only", is_flag=True, help="even leaders by the order of replicas: no data moves"),
    click.option("--fix-racks", is_flag=True, help="only what puts partitions on more racks"),
    click.option(
        "--replication-factor", "factor", metavar="N", type=click.IntRange(1, 32_767), help="of the topics of --topic"
    ),
    click.option("--drain-only", is_flag=True, help="with brokers that leave: move only what they have"),
)
_BOUNDS = (
    click.option(
        "--topic", "topics", metavar="NAME", multiple=True, help="touch only these; may be a pattern: 'orders-*'"
    ),
    click.option("--exclude", metavar="NAME", multiple=True, help="leave these alone; may be a pattern"),
    click.option(
        "--by",
        type=click.Choice(["count", "bytes"]),
        default="count",
        show_default=True,
        help="what the fewest moves count",
    ),
    click.option(
        "--tolerance",
        metavar="PERCENT",
        type=click.FloatRange(0, 1000),
        default=0.0,
        help="brokers may stay so far from the mean, which takes fewer moves",
    ),
    click.option("--capacity", metavar="BYTES", type=Amount(), help="no broker may hold more, as 4TB; needs sizes"),
    click.option("--sizes", type=_FILE, help="a snapshot with size_bytes, or JSON: topic → partition → bytes"),
)
_RUNNING = (
    click.option(
        "--batch-size",
        metavar="N",
        type=click.IntRange(min=1),
        default=Batching().replicas,
        show_default=True,
        help="copies to, and from, one broker in one batch",
    ),
    click.option("--batch-bytes", metavar="BYTES", type=Amount(), help="bytes to, and from, one broker in one batch"),
    click.option("--batches", "batch_count", metavar="N", type=click.IntRange(min=1), help="at most so many batches"),
    click.option("--throttle", metavar="BYTES/S", type=Amount(), help="say how long it takes at that rate, as 50MB"),
    click.option("--within", metavar="TIME", type=Duration(), help="say which throttle it takes to be done in 6h"),
)
_RESULTS = (
    click.option("-o", "--output", type=_FILE, help="write it for kafka-reassign-partitions --execute"),
    click.option("--rollback", type=_FILE, help="write what undoes it, for the same tool"),
    click.option("--election", type=_FILE, help="write for kafka-leader-election who is to lead when all is done"),
    click.option(
        "--format",
        "file_format",
        type=click.Choice(["kafka", "topicmappr"]),
        default="kafka",
        help="of these files; topicmappr: nothing but the moves, as --map-string of topicmappr takes them",
    ),
    click.option("--batch-files", is_flag=True, help="with -o and --rollback: also a numbered file for each batch"),
    click.option("--score", metavar="FILE", type=_FILE, help="make no plan: measure a file's by the same rules"),
    click.option("--each-broker", is_flag=True, help="what removing each broker in turn costs and does"),
    click.option("--all", "everything", is_flag=True, help="all brokers, batches and partitions: no bounds on lists"),
    click.option("--json", "as_json", is_flag=True, help="one kdrill.plan/1 object (--each-broker: kdrill.plans/1)"),
)


def takes_wish(command: Command) -> Command:
    """All that may be wished of a plan, which the command gets as `options`, by name."""

    @wraps(command)
    def with_options(**given: Any) -> Any:
        size = click.get_current_context().get_parameter_source("batch_size")
        wish = {name: given.pop(name) for name in _NAMES}
        return command(options={**wish, "size_given": size is ParameterSource.COMMANDLINE}, **given)

    decorated = with_options
    for option in reversed((*_GOALS, *_BOUNDS, *_RUNNING, *_RESULTS)):
        decorated = option(decorated)
    return decorated


_NAMES: tuple[str, ...] = (
    *("remove", "add", "swap", "rebalance", "leaders_only", "fix_racks", "factor", "drain_only"),
    *("topics", "exclude", "by", "tolerance", "capacity", "sizes"),
    *("batch_size", "batch_bytes", "batch_count", "throttle", "within"),
    *("output", "rollback", "election", "file_format", "batch_files"),
    *("score", "each_broker", "everything", "as_json"),
)
