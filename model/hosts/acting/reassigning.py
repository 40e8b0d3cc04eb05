"""A reassignment carried out: looks, lets `reassignment_run` decide, writes the journal, does it, looks again."""

from collections.abc import Callable, Iterable

from model.actions.proposal import ActionRefused, Proposal
from model.actions.reassignment import Asked, Refused, RunState, Seen
from model.actions.reassignment_run import Decision, decide, wanted
from model.hosts.acting.audit_log import AuditLog
from model.hosts.acting.carrying_out import carry_out
from model.hosts.acting.journal import Journal
from model.hosts.acting.routes import RouteToCluster
from model.hosts.acting.writer import UnansweredError, UnwrittenError
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable

LOOK_AGAIN_S = 1.0


def reassign(
    state: RunState,
    route: RouteToCluster,
    journal: Journal,
    audit: AuditLog,
    *,
    told: Callable[[Decision], None],
    asked: Callable[[float], Iterable[Asked]],
) -> Decision:
    """Goes on until it has ended or is stuck; `journal` is open. Raises ActionRefused, UnwrittenError, to be resumed.

    `asked` waits for at most so many seconds, and gives what the operator decided meanwhile. `told` hears of each step.
    """

    def heard(decision: Decision) -> RunState:
        if decision.state is not state:
            journal.write(decision.state)
        told(decision)
        return decision.state

    journal.write(state)
    wait_s = 0.0
    while True:
        for wish in asked(wait_s):
            state = heard(decide(state, wish))
        try:
            standing = route.look(wanted(state))
        except (ZooKeeperUnavailable, UnansweredError) as error:
            told(Decision(state, f"cannot look: {error}"))
            wait_s = LOOK_AGAIN_S
            continue
        decision = decide(state, Seen(standing))
        state = heard(decision)
        if decision.is_stuck or state.phase == "ended":
            return decision
        if decision.command is not None:
            steps = tuple(route.steps_of(decision.command, standing))
            if refusal := _done(Proposal(f"{state.run.plan}: {decision.said}", steps), route, audit):
                state = heard(decide(state, Refused(refusal)))
        wait_s = 0.0 if decision.is_soon else LOOK_AGAIN_S


def _done(proposal: Proposal, route: RouteToCluster, audit: AuditLog) -> str:
    """Why it was not, or may not have been; empty where it was. Raises UnwrittenError."""
    try:
        outcome = carry_out(proposal, route.writers, audit)
    except ActionRefused as refusal:
        return str(refusal)
    if outcome.unwritten:
        raise UnwrittenError(f"{proposal.title}: {outcome.told}; nothing goes on")
    return "" if outcome.kind == "done" else outcome.said or "it was not taken"
