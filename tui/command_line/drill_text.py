"""A drill for people to read: what was assumed, what it means, who suffers, and how it went. Prints nothing."""

from collections.abc import Iterator, Mapping

from model.cluster.ids import NO_LEADER
from model.cluster.words import brokers, counted, listed, replicas
from model.drills.document import notes_on
from model.drills.drill import Drill
from model.drills.outcomes import Outcome, PartitionOutcome
from model.drills.scenario import Deed
from model.drills.sentences import told
from model.drills.staging.rules import rules_of
from model.drills.voters import candidates_text, is_kraft, not_forecast, silence_text, turnout_text
from tui.text import cells, plain

MOST_PARTITIONS = 20
MOST_ROWS = 60
_DID: Mapping[Deed, str] = {Deed.KILL: "died", Deed.STOP: "shut down", Deed.START: "started again"}
TOLD = (Outcome.OFFLINE, Outcome.UNCLEAN, Outcome.CLEAN, Outcome.FOLLOWER_LOST, Outcome.FOLLOWER_BACK, Outcome.DELETING)


def lines(drill: Drill, *, everything: bool = False) -> Iterator[str]:
    """All of it, fit to print; lists are bounded unless `everything` is wanted."""
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


def _scenario(drill: Drill) -> str:
    scenario = drill.scenario
    rack, back = scenario.rack, scenario.restart_after_ms
    acts = [f"{brokers(act.brokers)} {_DID[act.deed]}" for act in scenario.acts]
    acts[0] = acts[0].replace(" died", f" (rack {rack}) died") if rack is not None else acts[0]
    restart = "" if back is None else f", and started again after {_seconds(back)}"
    return f"what if {', then '.join(acts)}{', unclean elections allowed' if scenario.unclean else ''}{restart}"


def _assumed(drill: Drill) -> Iterator[str]:
    times = drill.assumptions
    write, request = f"{times.zookeeper_write_ms:g} ms per", f"{times.request_ms:g} ms"
    if is_kraft(drill.before):
        takes = f"{write} metadata write, {request} until brokers learn of it"
    else:
        takes = f"{write} ZooKeeper write, {request} per request"
    silent = silence_text(drill.before, _seconds(times.session_timeout_ms))
    yield f"assumed: {silent}, {takes}, rules of Kafka {rules_of(drill.before).since} and later"
    for note in notes_on(drill):
        yield f"         {note}"


def _summary(drill: Drill) -> Iterator[str]:
    summary, timeline = drill.summary, drill.timeline
    before, after = summary.before, summary.after
    if drill.turnout is not None:
        yield f"quorum             {turnout_text(drill.turnout)}"
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


def _controller(drill: Drill) -> str:
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


def _candidates(drill: Drill) -> str:
    """Who controls in the end, as far as one can know."""
    some = [f"b{broker}" for broker in drill.timeline.candidates]
    return f"one of {listed(some, 20)}" if len(some) > 1 else some[0] if some else "nobody"


def _partitions(drill: Drill, everything: bool) -> Iterator[str]:
    suffer = [one for one in drill.affected if one.outcome in TOLD]
    shown = suffer if everything else suffer[:MOST_PARTITIONS]
    yield f"{counted(len(suffer), 'partition')} affected{', the worst first:' if suffer else '.'}"
    names = [plain(str(one.partition)) for one in shown]
    width = max(map(cells, names), default=0)
    for one, name in zip(shown, names, strict=True):
        yield f"  {one.outcome.value:<13}  {name}{' ' * (width - cells(name))}  {_change(one)}"
    if len(suffer) > len(shown):
        yield f"  … {len(suffer) - len(shown):,} more: --all shows them"


def _change(one: PartitionOutcome) -> str:
    leader = "→".join("none" if broker == NO_LEADER else str(broker) for broker in dict.fromkeys(one.leader))
    isr = "→".join(dict.fromkeys(map(replicas, one.isr)))
    epoch = "→".join(str(number) for number in dict.fromkeys(one.leader_epoch))
    waited = ""
    if one.outage is not None:
        to_ms = one.outage.to_ms
        waited = ", never led again" if to_ms is None else f", {_seconds(to_ms - one.outage.from_ms)} without a leader"
    return f"leader {leader}, ISR {isr}, epoch {epoch}{waited}"


def _timeline(drill: Drill, everything: bool) -> Iterator[str]:
    all_told = list(told(drill.timeline.rows))
    shown = all_told if everything else all_told[:MOST_ROWS]
    yield f"timeline, {_seconds(drill.timeline.end_ms)} long{'' if drill.at_rest else ', and not over then'}:"
    for one in shown:
        until = f" (until {one.until_ms / 1000:.3f} s)" if one.until_ms - one.at_ms >= 1 else ""
        yield f"  {one.at_ms / 1000:>10.3f} s  {plain(one.text)}{until}"
    if len(all_told) > len(shown):
        yield f"  … {len(all_told) - len(shown):,} more: --all shows them"


def _seconds(ms: float) -> str:
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:,.3f}".rstrip("0").rstrip(".") + " s"
