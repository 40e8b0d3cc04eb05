"""What carries steps out and what became of them. A writer decides nothing and repeats nothing."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from model.actions.proposal import Step


class Outcome(msgspec.Struct, frozen=True):
    """What became of steps.

    `done`: all of them; `refused`: the cluster did not take one, and nothing behind it was sent; `unknown`: one was
    sent and no answer came, so that the cluster has to be looked at.
    """

    kind: Literal["done", "refused", "unknown"]
    said: str = ""
    """One line for the operator: why, and what was found."""
    done: int = 0
    """How many steps are known to be done."""
    unwritten: str = ""
    """Why the audit log does not say what became of them; empty where it does."""

    @property
    def told(self) -> str:
        """`said`, and what is not written down; for one that is done, too."""
        unwritten = f"{'done, but ' if self.kind == 'done' else ''}not written down: {self.unwritten}"
        return "; ".join(filter(None, (self.said, unwritten if self.unwritten else "")))


class UnansweredError(Exception):
    """A request may have reached the brokers, and no answer came; one line."""


class UnwrittenError(Exception):
    """Something was done and could not be written down, so that nothing goes on; one line."""


class Writer(Protocol):
    """Takes steps of one kind. Blocks, and is used from one thread."""

    def check(self, steps: Sequence[Step]) -> str:
        """Why they cannot be done any more, one line; empty where nothing speaks against it. Writes nothing."""
        ...

    def carry_out(self, steps: Sequence[Step]) -> Outcome:
        """All of them in order, up to the first that fails."""
        ...

    def close(self) -> None:
        """Lets go of the cluster."""
        ...
