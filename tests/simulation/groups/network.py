"""How long everything takes, and what is lost. Brokers can be cut off from each other; members reach all that run."""

from __future__ import annotations

from random import Random


class Network:
    """`loss`: of requests and of answers; `lateness_s`: the longest delay. `calm`: nothing of the kind any more."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.loss = 0.0
        self.lateness_s = 0.01
        self.away: set[int] = set()
        """Brokers that no other broker, and no controller, can reach."""

    def delay_s(self) -> float:
        """Of one message."""
        return 0.001 + self.dice.random() ** 3 * self.lateness_s

    def loses(self) -> bool:
        """Whether this message is lost, and its connection with it."""
        return self.loss > 0 and self.dice.random() < self.loss

    def are_linked(self, one: int, other: int) -> bool:
        """Whether brokers reach each other."""
        return one not in self.away and other not in self.away

    def heal(self) -> None:
        """From now on all goes well."""
        self.loss, self.lateness_s = 0.0, 0.01
        self.away.clear()
