"""What the controller decided: the next state, what to do, and why. A value; carrying it out is the host's part."""

import msgspec

from model.controller.commands import Command
from model.controller.state import ControllerState


class Decision(msgspec.Struct, frozen=True):
    """`reasons` has a sentence for each step that decided something, in order."""

    state: ControllerState
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reasons as one text for an operator."""
        return " ".join(self.reasons)
