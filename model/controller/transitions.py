"""State machines as tables: what is not in the table is illegal. It holds no table itself and performs no action.

Theory of operation: a table maps (state now, state wanted) to the action that this move takes. A move is looked up and
either gives its action, or an IllegalTransition that says which states it could have been made from. Kafka logs an
illegal move and leaves that partition or replica as it is; the others of the batch go on (0.8: the batch ends).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from model.cluster.words import listed

State = TypeVar("State", bound=Enum)
Action = TypeVar("Action", bound=Enum)


@dataclass(frozen=True, slots=True)
class IllegalTransition(Generic[State]):
    """A move that no rule allows."""

    source: State
    target: State
    legal_sources: tuple[State, ...]

    def __str__(self) -> str:
        legal = listed((state.value for state in self.legal_sources), len(self.legal_sources)) or "nowhere"
        return f"{self.target.value} can be reached from {legal}, not from {self.source.value}"


@dataclass(frozen=True, slots=True)
class TransitionTable(Generic[State, Action]):
    """All legal moves of one state machine."""

    moves: Mapping[tuple[State, State], Action]

    def action(self, source: State, target: State) -> Action | IllegalTransition[State]:
        """What a move takes, or why it cannot be made."""
        return self.moves.get((source, target)) or IllegalTransition(source, target, self.sources(target))

    def sources(self, target: State) -> tuple[State, ...]:
        """States from which `target` can be reached (Kafka's `validPreviousStates`)."""
        return tuple(source for source, reached in self.moves if reached == target)

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """From, to and what it takes, for a table or a diagram in a document or on a screen."""
        return tuple((source.value, target.value, action.value) for (source, target), action in self.moves.items())
