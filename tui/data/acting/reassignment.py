"""A plan, or what is left of a run, as a reassignment that can be proposed and carried out."""

from collections.abc import Callable, Iterable

import msgspec

from model.actions.proposal import ActionRefused, Proposal
from model.actions.reassignment import Asked, Move, Route, Run, RunState
from model.actions.reassignment_run import Decision, wanted_by_all
from model.actions.reassignments import proposal_of, unthrottled_if_idle
from model.cluster.cluster_image import ClusterImage
from model.cluster.words import counted
from model.hosts.acting.reassigning import reassign
from model.planning.plan import Plan
from tui.data.acting.way import Way


def run_of(plan: Plan, image: ClusterImage, *, route: Route, rate: int | None, begun_ms: int) -> Run:
    """Raises ActionRefused for a throttle that the release does not know."""
    # The cluster's id came with the same release as the throttle, 0.10.1 (KIP-78, KIP-73).
    if rate is not None and image.cluster_id is None and image.generation in ("0.8", "0.9-1.x"):
        raise ActionRefused("this release has no replication throttle, which came with 0.10.1: leave --throttle out")
    return Run(
        source=plan.source,
        plan="kdrill's plan" if plan.maker == "kdrill" else plan.maker,
        begun_ms=begun_ms,
        route=route,
        moves=tuple(Move(change.topic, change.partition, change.before, change.after) for change in plan.changes),
        ends=tuple(batch.end for batch in plan.batches),
        rate=rate,
    )


def proposed(state: RunState, way: Way, drilled: str = "") -> tuple[RunState, Proposal]:
    """The run as it is to be gone on with, and what it is going to do.

    Raises ActionRefused where it cannot begin, ZooKeeperUnavailable and UnansweredError.
    """
    route = way.reassigning()
    standing = route.look(wanted_by_all(state))
    state = unthrottled_if_idle(state, standing)
    many, batches = counted(len(state.run.moves), "partition"), counted(len(state.run.ends), "batch", "batches")
    deed = "stop the reassignment of" if state.wish == "cancel" else "roll back" if state.is_back else "reassign"
    proposal = proposal_of(state, standing, route.steps_of, f"{deed} {many} in {batches}: {state.run.plan}")
    return state, msgspec.structs.replace(proposal, changes=(*filter(None, [drilled]), *proposal.changes))


def carried_out(
    state: RunState, way: Way, told: Callable[[Decision], None], asked: Callable[[float], Iterable[Asked]]
) -> Decision:
    """To its end. Raises ActionRefused, also where another reassignment began since this one was proposed."""
    with way.journal() as journal:
        last = journal.read()
        if last is not None and last.phase != "ended" and last.run.begun_ms != state.run.begun_ms:
            raise ActionRefused("nothing was done: another reassignment was begun meanwhile, and has not ended")
        return reassign(state, way.reassigning(), journal, way.audit, told=told, asked=asked)
