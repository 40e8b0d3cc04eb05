"""A step: one thing the controller does before it looks at its agenda again. The plan is data, there is no coroutine.

Theory of operation: `begin` says what follows from what the controller knows. If it has to ask ZooKeeper first, it
returns the question in `ask`, and `resume` of the same step goes on with the answers; nothing else happens in between
but that events queue up. Steps in `then` come before what was on the agenda already, so a plan is a stack. An
empty question is answered at once with no answers.
"""

import msgspec

from model.controller.commands import Command
from model.controller.context import ControllerContext
from model.controller.events import Event
from model.controller.zookeeper import Answer, ZooKeeperRequest


class Step(msgspec.Struct, frozen=True):
    """Something to do. Its fields say to what."""

    def begin(self, context: ControllerContext) -> "Outcome":
        """What follows, or what to ask ZooKeeper first."""
        raise NotImplementedError

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> "Outcome":
        """What follows from the answers, one for each request of `ask`, in order."""
        raise NotImplementedError


class Outcome(msgspec.Struct, frozen=True):
    """What a step came to. `why` is a sentence for an operator that names the rule, empty if nothing was decided.

    `queue` are events the controller tells itself, behind those that wait already.
    """

    context: ControllerContext
    commands: tuple[Command, ...] = ()
    ask: tuple[ZooKeeperRequest, ...] | None = None
    then: tuple[Step, ...] = ()
    queue: tuple[Event, ...] = ()
    why: str = ""
