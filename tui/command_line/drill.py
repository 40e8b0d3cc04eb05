"""`kdrill drill`: what would happen if brokers died, stopped or started now, played on a copy of the cluster."""

import gc
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from model.cluster.whole_file import write_whole
from model.drills.document import document_of
from model.drills.drill import DEFAULT, Drill, run, usual
from model.drills.scenario import Act, Scenario, ScenarioError, of_acts, of_rack
from model.drills.voters import DEFAULT_SESSION_MS
from spark_tasks.client.once import Engine
from tui.command_line.demo import json_line, takes_cluster
from tui.command_line.drill_acts import InOrder, takes_acts
from tui.command_line.drill_text import lines
from tui.command_line.drills import Wanted, drilled, takes_scenarios
from tui.command_line.engine_options import takes_engine
from tui.command_line.source_image import image_of
from tui.data.opening import Opening

SURVIVED, HURT = 0, 2
LONGEST_TIME_MS = 86_400_000

_SESSION = (
    "until a silent broker is taken for dead  [default: with ZooKeeper "
    f"{DEFAULT.session_timeout_ms:g}; on KRaft the brokers' broker.session.timeout.ms, Kafka's own is "
    f"{DEFAULT_SESSION_MS:g}]"
)

Command = Callable[..., Any]


def takes_times(command: Command) -> Command:
    """How long things take, which the command gets as `times`, by the names of `Assumptions`."""
    milliseconds = click.FloatRange(min=0, max=LONGEST_TIME_MS)

    def option(name: str, default: float | None, text: str) -> Callable[[Command], Command]:
        return click.option(name, metavar="MS", type=milliseconds, default=default, show_default=True, help=text)

    @option("--session-timeout", None, _SESSION)
    @option("--zookeeper-write", DEFAULT.zookeeper_write_ms, "for a write to ZooKeeper, on KRaft to the metadata log")
    @option(
        "--request",
        DEFAULT.request_ms,
        "for a request to a broker, and its answer; on KRaft until brokers learn of a write",
    )
    @wraps(command)
    def with_times(session_timeout: float | None, zookeeper_write: float, request: float, **others: Any) -> Any:
        times = {"zookeeper_write_ms": zookeeper_write, "request_ms": request}
        if session_timeout is not None:
            times["session_timeout_ms"] = session_timeout
        return command(times=times, **others)

    return with_times


@click.command(cls=InOrder)
@takes_cluster
@takes_acts
@click.option("--rack", help="all live brokers of this rack die together")
@click.option("--unclean", is_flag=True, help="let every topic elect a leader that is not in sync")
@click.option(
    "--restart-after",
    metavar="MS",
    type=click.FloatRange(min=0, max=LONGEST_TIME_MS),
    help="start them again so long after their death",
)
@takes_scenarios
@takes_engine
@takes_times
@click.option(
    "--all", "everything", is_flag=True, help="with --json, also partitions that nothing happens to; without, no bounds"
)
@click.option("--json", "as_json", is_flag=True, help="one kdrill.drill/1 object, or kdrill.drills/1")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to this file")
def drill(
    opening: Opening,
    acts: tuple[Act, ...],
    rack: str | None,
    unclean: bool,
    restart_after: float | None,
    wanted: Wanted,
    engine: Engine,
    times: dict[str, float],
    everything: bool,
    as_json: bool,
    output: Path | None,
) -> int:
    """What would happen if brokers died now: kill -9, on a copy of the cluster, by the controller's own rules.

    --kill, --stop and --start happen in the order given, each once the one before is over. Nothing is written to the
    cluster. Exits 0 if everybody can go on writing and reading, 2 if a partition goes offline, falls below its
    min.insync.replicas, or loses records by an unclean election, or if the voters of a KRaft cluster lose their
    majority; of many scenarios, 2 if any of them does so.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka://host:port[,host:port...], a snapshot file, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), what kafka-topics --describe printed (a file, or - for standard input), or
    a cluster's name in the configuration.

    \b
    Example: kdrill drill zk://zk1:2181/kafka --kill 3,4
             kdrill drill prod-eu1 --stop 3 --kill 4 --start 3
             kdrill drill before-upgrade.json.zst --rack r1 --json -o r1-down.json
             kdrill drill prod-eu1 --each-pair --failure-rate 0.5
    """
    if wanted.kind is not None:
        _check_alone(acts or rack is not None, restart_after, everything=everything)
        hurts, told = drilled(image_of(opening), wanted, engine, unclean=unclean, as_json=as_json)
    else:
        wish = msgspec.structs.replace(of_acts(acts), rack=rack, unclean=unclean, restart_after_ms=restart_after)
        played = _played(opening, wish, times)
        hurts = played.hurts
        told = document_of(played, everything=everything) if as_json else lines(played, everything=everything)
    _print(json_line(told, opening) if isinstance(told, dict) else told, output)
    return HURT if hurts else SURVIVED


def _played(opening: Opening, wish: Scenario, times: dict[str, float]) -> Drill:
    """One scenario, of brokers or of a rack."""
    if not wish.acts and wish.rack is None:
        raise click.UsageError("nobody to kill: give --kill ID[,ID...], --rack NAME, --each-broker or one of its like")
    if wish.kill and wish.rack is not None:
        raise click.UsageError("--kill and --rack exclude each other")
    if wish.then and wish.restart_after_ms is not None:
        raise click.UsageError("--restart-after is for one death and nothing else: --start starts brokers in order")
    image = image_of(opening)
    gc.disable()  # a drill is a million values that all live until the process ends, and soon
    try:
        kill = wish.kill if wish.rack is None else of_rack(image, wish.rack).kill
        scenario = msgspec.structs.replace(wish, kill=kill)
        return run(image, scenario, msgspec.structs.replace(usual(image, scenario), **times))
    except ScenarioError as error:
        raise click.UsageError(str(error)) from None


def _check_alone(chosen: object, restart_after: float | None, *, everything: bool) -> None:
    """Many scenarios are counted, not played in time."""
    if chosen:
        raise click.UsageError("--each-... and --random choose who dies: leave out --kill, --rack, --stop and --start")
    if restart_after is not None:
        raise click.UsageError("--restart-after is for one scenario: give --kill or --rack")
    context = click.get_current_context()
    for name in ("session_timeout", "zookeeper_write", "request"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is for one scenario: nothing is timed in many")
    if everything:
        raise click.UsageError("--all is for one scenario: --limit says how many are listed")


def _print(told: str | Iterator[str], output: Path | None) -> None:
    text = "".join(f"{line}\n" for line in ((told,) if isinstance(told, str) else told))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        write_whole(output, text.encode())
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror or error}") from None
