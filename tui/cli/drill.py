"""`kdrill drill`: what would happen if brokers failed, stopped or started now, played on a copy of the cluster.

What is done to brokers happens in the order of the options. For people, the drill is told as what was assumed, what
it means, who suffers, and how it went.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from model.cluster.ids import NO_LEADER
from model.cluster.texts import counted, listed, replicas
from model.drills.document import document_of, notes_on
from model.drills.drill import DEFAULT, PlayedDrill, run, usual
from model.drills.outcomes import DrilledPartition, OutcomeKind
from model.drills.scenario import Act, Deed, Scenario, ScenarioError, nodes_text
from model.drills.sentences import steps_of
from model.drills.voter_change import change_lines
from model.drills.voters import (
    DEFAULT_SESSION_MS,
    candidates_text,
    is_kraft,
    not_forecast,
    rules_text,
    served_text,
    silence_text,
    turnout_text,
)
from spark_tasks.spark_client import Engine
from tui.cli.drill_acts import LONGEST_TIME_MS, DrillActOption, InOrder, scenario_of, takes_acts, takes_wish
from tui.cli.drills import WantedScenarios, drilled, takes_scenarios
from tui.cli.following import image_of
from tui.cli.options import takes_cluster, takes_engine
from tui.cli.output import json_line, more, put
from tui.engine.messages import Opening
from tui.engine.text import cells, plain

Command = Callable[..., Any]

MOST_PARTITIONS = 20
MOST_ROWS = 60
_DID: Mapping[Deed, str] = {Deed.KILL: "failed", Deed.STOP: "shut down", Deed.START: "started again"}


def lines(drill: PlayedDrill, *, everything: bool = False) -> Iterator[str]:
    """The drill as text; lists are cut unless `everything` is set."""
    if first := not_forecast(drill.before):
        yield first
    yield plain(f"{drill.before.provenance.source}: {_scenario(drill)}")
    yield from _assumed(drill)
    yield ""
    yield from _summary(drill)
    yield ""
    yield from _partitions(drill, everything)
    yield ""
    yield from _timeline(drill, everything)


def _scenario(drill: PlayedDrill) -> str:
    scenario = drill.scenario
    rack, back = scenario.rack, scenario.restart_after_ms
    acts = [*_changed_voters(scenario), *(_act(drill, act) for act in scenario.acts)]
    acts[0] = acts[0].replace(" failed", f" (rack {rack}) failed") if rack is not None else acts[0]
    restart = "" if back is None else f", and started again after {_seconds(back)}"
    return f"what if {', then '.join(acts)}{', unclean elections allowed' if scenario.unclean else ''}{restart}"


def _act(drill: PlayedDrill, act: Act) -> str:
    if act.deed is Deed.LOSE:
        folders = (f"{path} of b{broker}" for broker, path in act.folders)
        return f"log folder{'' if len(act.folders) == 1 else 's'} {listed(folders, 20)} failed"
    return f"{nodes_text(drill.before, act.brokers)} {_DID[act.deed]}"


def _changed_voters(scenario: Scenario) -> Iterator[str]:
    for ids, what in ((scenario.add_voters, "added"), (scenario.remove_voters, "removed")):
        if ids:
            who = f"voter {ids[0]} was" if len(ids) == 1 else f"voters {listed(ids, 20)} were"
            yield f"{who} {what}"


def _assumed(drill: PlayedDrill) -> Iterator[str]:
    times = drill.assumptions
    write, request = f"{times.zookeeper_write_ms:g} ms per", f"{times.request_ms:g} ms"
    if is_kraft(drill.before):
        takes = f"{write} metadata write, {request} until brokers learn of it"
    else:
        takes = f"{write} ZooKeeper write, {request} per request"
    silent = silence_text(drill.before, _seconds(times.session_timeout_ms))
    yield f"assumed: {silent}, {takes}, {rules_text(drill.before)}"
    for note in notes_on(drill):
        yield f"         {note}"


def _summary(drill: PlayedDrill) -> Iterator[str]:
    summary, timeline = drill.summary, drill.timeline
    before, after = summary.before, summary.after
    for number, line in enumerate(() if drill.voter_change is None else change_lines(drill.voter_change)):
        yield f"{'' if number else 'change':<19}{line}"
    if drill.turnout is not None:
        yield f"quorum             {turnout_text(drill.turnout)}"
    if drill.served is not None:
        yield f"still served       {served_text(drill.served)}"
    yield f"leaders moved      {summary.leaders_moved:,}"
    yield f"offline            {before.offline:,} → {after.offline:,}"
    yield f"under min ISR      {before.under_min_isr:,} → {after.under_min_isr:,}"
    yield f"under-replicated   {before.under_replicated:,} → {after.under_replicated:,}"
    yield f"unclean elections  {summary.unclean:,}"
    half, most, longest = (timeline.outage_percentile(percent) for percent in (50, 99, 100))
    if half is not None and most is not None and longest is not None:
        yield f"without a leader   50 % {_seconds(half)}, 99 % {_seconds(most)}, longest {_seconds(longest)}"
    yield f"controller         {_controller(drill)}"
    leaders = (f"b{broker} {one:,}→{other:,}" for broker, (one, other) in summary.leaders_by_broker.items())
    yield f"leaders by broker  {listed(leaders, 20)}"


def _controller(drill: PlayedDrill) -> str:
    before, after = drill.before.controller, drill.after.controller
    if drill.turnout is not None:
        old = "nobody" if before.broker is None else str(before.broker)
        return " → ".join(dict.fromkeys((old, candidates_text(drill.turnout))))
    if before.broker == after.broker and before.epoch == after.epoch:
        return f"b{before.broker}, epoch {before.epoch}"
    if "/controller" in drill.before.unreadable:
        return f"not known before (one is elected as the drill begins), then {_candidates(drill)}"
    old = "nobody" if before.broker is None else f"b{before.broker}"
    return f"{old} → {_candidates(drill)}, epoch {before.epoch} → {after.epoch}"


def _candidates(drill: PlayedDrill) -> str:
    """Who may be the controller in the end."""
    some = [f"b{broker}" for broker in drill.timeline.candidates]
    return f"one of {listed(some, 20)}" if len(some) > 1 else some[0] if some else "nobody"


def _partitions(drill: PlayedDrill, everything: bool) -> Iterator[str]:
    suffer = [one for one in drill.affected if one.outcome is not OutcomeKind.UNAFFECTED]
    shown = suffer if everything else suffer[:MOST_PARTITIONS]
    yield f"{counted(len(suffer), 'partition')} affected{', worst first:' if suffer else '.'}"
    names = [plain(str(one.partition)) for one in shown]
    width = max(map(cells, names), default=0)
    for one, name in zip(shown, names, strict=True):
        yield f"  {one.outcome.value:<13}  {name}{' ' * (width - cells(name))}  {_change(one)}"
    yield from more(len(suffer) - len(shown))


def _change(one: DrilledPartition) -> str:
    leader = "→".join("none" if broker == NO_LEADER else str(broker) for broker in dict.fromkeys(one.leader))
    isr = "→".join(dict.fromkeys(map(replicas, one.isr)))
    epoch = "→".join(str(number) for number in dict.fromkeys(one.leader_epoch))
    waited = ""
    if one.outage is not None:
        to_ms = one.outage.to_ms
        waited = ", never led again" if to_ms is None else f", {_seconds(to_ms - one.outage.from_ms)} without a leader"
    return f"leader {leader}, ISR {isr}, epoch {epoch}{waited}"


def _timeline(drill: PlayedDrill, everything: bool) -> Iterator[str]:
    all_told = list(steps_of(drill.timeline.rows))
    shown = all_told if everything else all_told[:MOST_ROWS]
    yield f"timeline, {_seconds(drill.timeline.end_ms)} long{'' if drill.at_rest else ', not finished then'}:"
    for one in shown:
        until = f" (until {one.until_ms / 1000:.3f} s)" if one.until_ms - one.at_ms >= 1 else ""
        yield f"  {one.at_ms / 1000:>10.3f} s  {plain(one.text)}{until}"
    yield from more(len(all_told) - len(shown))


def _seconds(ms: float) -> str:
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:,.3f}".rstrip("0").rstrip(".") + " s"


SURVIVED, HURT = 0, 2

_SESSION = (
    "time until a silent broker counts as dead  [default: with ZooKeeper "
    f"{DEFAULT.session_timeout_ms:g}; on KRaft the brokers' broker.session.timeout.ms, Kafka's own is "
    f"{DEFAULT_SESSION_MS:g}]"
)


def takes_times(command: Command) -> Command:
    """How long things take, which the command gets as `times`, by the names of `Assumptions`."""
    milliseconds = click.FloatRange(min=0, max=LONGEST_TIME_MS)

    def option(name: str, default: float | None, text: str) -> Callable[[Command], Command]:
        return click.option(name, metavar="MS", type=milliseconds, default=default, show_default=True, help=text)

    @option("--session-timeout", None, _SESSION)
    @option(
        "--zookeeper-write",
        DEFAULT.zookeeper_write_ms,
        "time for a write to ZooKeeper, or on KRaft to the metadata log",
    )
    @option(
        "--request",
        DEFAULT.request_ms,
        "round trip to a broker; on KRaft, time until brokers learn of a write",
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
@takes_wish
@takes_scenarios
@takes_engine
@takes_times
@click.option(
    "--all", "everything", is_flag=True, help="with --json, also partitions that nothing happens to; without, no bounds"
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="one kdrill.drill/1 object, or kdrill.drills/1; of a fleet, kdrill.fleet/1 as lines",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to this file")
def drill(
    opening: Opening,
    wishes: tuple[DrillActOption, ...],
    wish: Scenario,
    wanted: WantedScenarios,
    engine: Engine,
    times: dict[str, float],
    everything: bool,
    as_json: bool,
    output: Path | None,
) -> int:
    """What would happen if brokers failed now: kill -9, on a copy of the cluster, by the controller's own rules.

    --kill, --kill-controller, --fail-dir, --stop and --start happen in the order given, each after the one before is
    over. Nothing is written to the cluster. Exits 0 if all clients can keep writing and reading, 2 if in any scenario a
    partition goes offline or falls below its min.insync.replicas, an unclean election loses records, or the voters of
    KRaft lose their majority.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.

    \b
    Example: kdrill drill zk://zk1:2181/kafka --kill 3,4
             kdrill drill prod-eu1 --stop 3 --kill 4 --start 3
             kdrill drill prod-eu2 --kill-controller active --fail-dir 3:/var/lib/kafka/d1
             kdrill drill before-upgrade.json.zst --rack r1 --json -o r1-down.json
             kdrill drill prod-eu1 --each-pair --failure-rate 0.5
    """
    if wanted.is_many:
        _check_alone(wish, wishes, everything=everything)
    if wanted.fleet is not None:
        return _fleet(opening, wanted, engine, output, unclean=wish.unclean, as_json=as_json)
    if wanted.kind is not None:
        hurts, told = drilled(image_of(opening), wanted, engine, unclean=wish.unclean, as_json=as_json)
    else:
        played = _played(opening, wish, wishes, times)
        hurts, told = played.hurts, (document_of if as_json else lines)(played, everything=everything)
    put("".join(f"{line}\n" for line in ([json_line(told, opening)] if isinstance(told, dict) else told)), output)
    return HURT if hurts else SURVIVED


def _fleet(
    opening: Opening, wanted: WantedScenarios, engine: Engine, output: Path | None, *, unclean: bool, as_json: bool
) -> int:
    """Scenarios that are played in time. The exit code."""
    from tui.cli import fleet as fleets  # noqa: PLC0415 - takes pyarrow

    assert wanted.fleet is not None
    asked = fleets.wanted(wanted.fleet, wanted.seed, unclean=unclean)
    run = fleets.FleetCommand(image_of(opening), asked, engine, wanted.store)
    return HURT if fleets.fleet(opening, run, wanted.limit, output, as_json=as_json) else SURVIVED


def _played(opening: Opening, wish: Scenario, wishes: Sequence[DrillActOption], times: dict[str, float]) -> PlayedDrill:
    """One scenario, of brokers or of a rack."""
    if not (wishes or wish.rack is not None or wish.add_voters or wish.remove_voters):
        raise click.UsageError("nobody to kill: give --kill ID[,ID...], --rack NAME, --each-broker or one of its like")
    if wish.rack is not None and wishes and wishes[0].deed is Deed.KILL:
        raise click.UsageError("--kill and --rack exclude each other")
    if wish.restart_after_ms is not None and {each.deed for each in wishes} - {Deed.KILL}:
        raise click.UsageError("--restart-after is for one death and nothing else: --start starts brokers in order")
    image = image_of(opening)
    gc.disable()  # a drill is a million values that all live until the process ends, and soon
    try:
        scenario = scenario_of(image, wish, wishes)
        return run(image, scenario, msgspec.structs.replace(usual(image, scenario), **times))
    except ScenarioError as error:
        raise click.UsageError(str(error)) from None


def _check_alone(wish: Scenario, wishes: Sequence[DrillActOption], *, everything: bool) -> None:
    """Many scenarios are counted, not played in time."""
    if wishes or wish.rack is not None or wish.add_voters or wish.remove_voters:
        raise click.UsageError(
            "--each-..., --random and --fleet choose who fails: leave out --kill, --rack, --stop and --start"
        )
    if wish.restart_after_ms is not None:
        raise click.UsageError("--restart-after is for one scenario: give --kill or --rack")
    context = click.get_current_context()
    for name in ("session_timeout", "zookeeper_write", "request"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is for one scenario: nothing is timed in many")
    if everything:
        raise click.UsageError("--all is for one scenario: --limit says how many are listed")
