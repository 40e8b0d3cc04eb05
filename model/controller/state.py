"""A controller as one value: what it knows, what it is about to do, what it waits for, what it has not looked at.

Kept, compared or gone back to at will. It decides nothing; `decide` does.
"""

import msgspec

from model.controller.context import ControllerContext
from model.controller.events import Event
from model.controller.settings import Settings
from model.controller.step import Step
from model.controller.zookeeper import ZooKeeperRequest


class Waiting(msgspec.Struct, frozen=True):
    """A step that asked ZooKeeper, and what."""

    step: Step
    question: int
    requests: tuple[ZooKeeperRequest, ...]


class ControllerState(msgspec.Struct, frozen=True):
    """`agenda` is what is left of the event at hand, next step first; `pending` are events that wait, oldest first.

    `unanswered` is the number of the request at hand while nobody has answered it.
    """

    context: ControllerContext
    agenda: tuple[Step, ...] = ()
    waiting: Waiting | None = None
    pending: tuple[Event, ...] = ()
    unanswered: int | None = None
    questions: int = 0

    @property
    def idle(self) -> bool:
        """Whether nothing happens until the next event."""
        return not self.agenda and self.waiting is None and not self.pending


def new_controller(settings: Settings) -> ControllerState:
    """A controller that knows nothing yet."""
    return ControllerState(ControllerContext(settings))
