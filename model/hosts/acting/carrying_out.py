"""A proposal carried out: checked again, written down, done step by step up to the first that fails, written down."""

from itertools import groupby

import msgspec

from model.actions.proposal import ActionRefused, Proposal, ZnodeWrite
from model.hosts.acting.audit_log import AuditLog
from model.hosts.acting.writer import Outcome, Writer


class Writers(msgspec.Struct, frozen=True):
    """Who takes which steps; None: nobody here does."""

    znodes: Writer | None = None
    calls: Writer | None = None

    def close(self) -> None:
        """Lets go of both."""
        for writer in (self.znodes, self.calls):
            if writer is not None:
                writer.close()


def carry_out(proposal: Proposal, writers: Writers, audit: AuditLog) -> Outcome:
    """What became of it. Raises ActionRefused, and nothing was done, where it does not hold any more.

    Also where it cannot be written down; that it was done, and could not be written down then, the outcome says.
    """
    groups = [
        (writers.znodes if is_write else writers.calls, tuple(steps))
        for is_write, steps in groupby(proposal.steps, lambda step: isinstance(step, ZnodeWrite))
    ]
    for writer, steps in groups:
        if writer is None:
            raise ActionRefused(f"{proposal.title}: no way to carry out {steps[0]}: name brokers with --bootstrap")
        if objection := writer.check(steps):
            raise ActionRefused(objection)
    try:
        number = audit.begin(proposal)
    except OSError as error:
        raise ActionRefused(f"{_unwritten(audit, error)}; nothing was done") from None
    outcome, done = Outcome("done"), 0
    for writer, steps in groups:
        assert writer is not None
        outcome = writer.carry_out(steps)
        done += outcome.done
        if outcome.kind != "done":
            break
    outcome = msgspec.structs.replace(outcome, done=done)
    try:
        audit.end(number, outcome)
    except OSError as error:
        return msgspec.structs.replace(outcome, unwritten=_unwritten(audit, error))
    return outcome


def _unwritten(audit: AuditLog, error: OSError) -> str:
    return f"{audit.file} cannot be written: {error.strerror or error}"
