"""Steps of a failover at which a drill may have the controller's process killed, so that the next one finds a half.

A file in the folder of faults says at which one (`fault_keys`). It is deleted first, so that it happens once.
"""

import logging
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from model.broker.settings.fault_keys import CONTROLLER_STOP_FILE, FAILOVER_STEPS
from model.cluster.whole_file import read_text
from model.controller.context import Activity
from model.controller.events import Event, RequestAnswered
from model.controller.state import ControllerState
from model.controller.step import Step
from model.controller.steps.elections import WriteElected
from model.controller.steps.topics import ReadStates

_LOGGER = logging.getLogger(__name__)
Reached = Callable[[Event, ControllerState, ControllerState], bool]


def _elected(_event: Event, before: ControllerState, after: ControllerState) -> bool:
    """`/controller` is created, the epoch written."""
    return _taking_over(after) and not _taking_over(before)


def _past(step: type[Step]) -> Reached:
    def reached(_event: Event, before: ControllerState, after: ControllerState) -> bool:
        return _taking_over(before) and _ahead(before, step) and not _ahead(after, step)

    return reached


def _told(event: Event, before: ControllerState, _after: ControllerState) -> bool:
    """The first broker has answered what this controller sent."""
    return before.context.active and isinstance(event, RequestAnswered)


def _taking_over(state: ControllerState) -> bool:
    return state.context.activity is Activity.TAKING_OVER


def _ahead(state: ControllerState, step: type[Step]) -> bool:
    waits = state.waiting is not None and isinstance(state.waiting.step, step)
    return waits or any(isinstance(each, step) for each in state.agenda)


_REACHED: Mapping[str, Reached] = dict(
    zip(FAILOVER_STEPS, (_elected, _past(ReadStates), _past(WriteElected), _told), strict=True)
)


class Stop:
    """Looks into `folder`, if there is one, and only when a step is reached."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / CONTROLLER_STOP_FILE

    def look(self, event: Event, before: ControllerState, after: ControllerState) -> None:
        """Kill this process if the decision has reached the step that the file names."""
        if self._file is None:
            return
        for name, reached in _REACHED.items():
            if reached(event, before, after) and self._names(name):
                self._file.unlink(missing_ok=True)
                _LOGGER.warning("the controller is %s: killed, as %s says", name, self._file)
                os.kill(os.getpid(), signal.SIGKILL)

    def _names(self, step: str) -> bool:
        try:
            return self._file is not None and read_text(self._file, only_file=True).strip() == step
        except OSError:
            return False
