"""`kdrill drill`: what would happen if these brokers died now, played on a copy of the cluster."""

import contextlib
import gc
import json
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.drills.document import document_of
from model.drills.drill import DEFAULT, RESTARTING, Drill, run
from model.drills.scenario import ScenarioError, of_brokers, of_rack
from model.sandbox.errors import SandboxError
from model.sources.feed import Moment
from tui.command_line import following
from tui.command_line.drill_text import lines
from tui.command_line.options import takes_source
from tui.data.opening import Opening

SURVIVED, HURT = 0, 2
LONGEST_TIME_MS = 86_400_000

Command = Callable[..., Any]


def takes_times(command: Command) -> Command:
    """How long things take, which the command gets as `times`, by the names of `Assumptions`."""
    milliseconds = click.FloatRange(min=0, max=LONGEST_TIME_MS)

    def option(name: str, default: float, text: str) -> Callable[[Command], Command]:
        return click.option(name, metavar="MS", type=milliseconds, default=default, show_default=True, help=text)

    @option("--session-timeout", DEFAULT.session_timeout_ms, "until ZooKeeper takes a silent broker for dead")
    @option("--zookeeper-write", DEFAULT.zookeeper_write_ms, "for a ZooKeeper write")
    @option("--request", DEFAULT.request_ms, "for a request of the controller to a broker, and its answer")
    @wraps(command)
    def with_times(session_timeout: float, zookeeper_write: float, request: float, **others: Any) -> Any:
        times = {"session_timeout_ms": session_timeout, "zookeeper_write_ms": zookeeper_write, "request_ms": request}
        return command(times=times, **others)

    return with_times


@click.command()
@takes_source
@click.option("--kill", "ids", metavar="ID[,ID...]", multiple=True, help="brokers that die together; may be repeated")
@click.option("--rack", help="all live brokers of this rack die together")
@click.option("--unclean", is_flag=True, help="let every topic elect a leader that is not in sync")
@click.option(
    "--restart-after",
    metavar="MS",
    type=click.FloatRange(min=0, max=LONGEST_TIME_MS),
    help="start them again so long after their death",
)
@takes_times
@click.option(
    "--all", "everything", is_flag=True, help="with --json, also partitions that nothing happens to; without, no bounds"
)
@click.option("--json", "as_json", is_flag=True, help="one kdrill.drill/1 object")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to this file")
def drill(
    opening: Opening,
    ids: tuple[str, ...],
    rack: str | None,
    unclean: bool,
    restart_after: float | None,
    times: dict[str, float],
    everything: bool,
    as_json: bool,
    output: Path | None,
) -> int:
    """What would happen if brokers died now: kill -9, on a copy of the cluster, by the controller's own rules.

    Nothing is written to the cluster. Exits 0 if everybody can go on writing and reading, 2 if a partition goes
    offline, falls below its min.insync.replicas, or loses records by an unclean election.

    SOURCE is zk://host:port[,host:port...][/chroot], a snapshot file, or a cluster's name in the configuration;
    without one it is the demo cluster.

    \b
    Example: kdrill drill zk://zk1:2181/kafka --kill 3,4
             kdrill drill before-upgrade.json.zst --rack r1 --json -o r1-down.json
    """
    victims = _victims(ids)
    if not victims and rack is None:
        raise click.UsageError("nobody to kill: give --kill ID[,ID...] or --rack NAME")
    if victims and rack is not None:
        raise click.UsageError("--kill and --rack exclude each other")
    image = _image(opening)
    gc.disable()  # a drill is a million values that all live until the process ends, and soon
    assumptions = msgspec.structs.replace(DEFAULT if restart_after is None else RESTARTING, **times)
    try:
        scenario = of_brokers(victims) if rack is None else of_rack(image, rack)
        scenario = msgspec.structs.replace(scenario, unclean=unclean, restart_after_ms=restart_after)
        played = run(image, scenario, assumptions)
    except ScenarioError as error:
        raise click.UsageError(str(error)) from None
    _print(played, as_json, everything, output)
    return HURT if played.summary.hurts else SURVIVED


def _victims(ids: tuple[str, ...]) -> list[int]:
    words = [word.strip() for text in ids for word in text.split(",")]
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and len(word) < 11)]
    if wrong:
        raise click.UsageError(f"--kill: {wrong[0]!r} is no broker id")
    return [int(word) for word in words]


def _image(opening: Opening) -> ClusterImage:
    """The cluster as it is now."""
    seen: list[ClusterImage] = []

    def see(moment: Moment) -> bool:
        seen.append(moment.image)
        return False

    with _opened(opening) as found:
        following.run(following.follow(found, see))
    return seen[0]


@contextlib.contextmanager
def _opened(opening: Opening) -> Iterator[Opening]:
    """What is to be opened; the demo cluster runs as long as the context."""
    if opening.source:
        yield opening
        return
    from model.sandbox.demo_sandbox import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

    try:
        with DemoSandbox(period_s=None) as demo:
            yield msgspec.structs.replace(opening, source=demo.source)
    except SandboxError as error:
        raise click.ClickException(str(error)) from None


def _print(played: Drill, as_json: bool, everything: bool, output: Path | None) -> None:
    if as_json:
        # In ASCII: names come from znodes, and the line may be read on a terminal.
        text = json.dumps(document_of(played, everything=everything), separators=(",", ":")) + "\n"
    else:
        text = "".join(f"{line}\n" for line in lines(played, everything=everything))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror or error}") from None
