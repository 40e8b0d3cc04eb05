"""The cluster that a seed decides on: how many brokers, how they are set up, how bad the network is, for how long."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from model.controller.generations import ControllerSettings, Generation, generation_of
from model.hosts.virtual.scheduled_events import LOST, ON_TIME, MessageDelivery, SentMessage, TimingAssumptions
from model.znodes.cluster import BrokerRegistration

START_MS = 1_795_244_000_000
RELEASES = ("3.9", "3.9", "3.9", "3.9", "3.2", "2.8", "2.4", "2.2")
"""Those with fenced writes and broker epochs. Up to 2.6, leaders write their ISRs by themselves."""


class Scenario(NamedTuple):
    """All that is decided before anything happens. `loss` and `lateness` are parts of all messages."""

    seed: int
    brokers: tuple[int, ...]
    racks: tuple[str | None, ...]
    generation: Generation
    unclean: bool
    rebalance: bool
    assumptions: TimingAssumptions
    loss: float
    lateness: float
    acts: int

    def settings(self, broker: int) -> ControllerSettings:
        """A broker's configuration."""
        return ControllerSettings(
            broker_id=broker,
            generation=self.generation,
            unclean_leader_election_enable=self.unclean,
            auto_leader_rebalance_enable=self.rebalance,
        )

    def registration(self, broker: int) -> bytes:
        """A broker's znode."""
        return BrokerRegistration(
            listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
            endpoints=(f"PLAINTEXT://broker-{broker}:9092",),
            rack=self.racks[broker],
            port=9092,
            host=f"broker-{broker}",
            version=5,
            timestamp="0",
        ).to_bytes()

    def network(self) -> RoughNetwork:
        """Its network."""
        return RoughNetwork(self.seed, self.loss, self.lateness)


class RoughNetwork:
    """Dice that are a function of the message: of the seed, and of how many messages there were before it."""

    def __init__(self, seed: int, loss: float, lateness: float) -> None:
        self._start = seed * 0x9E37_79B9
        self._loss = loss
        self._late = loss + lateness
        self.calm = False
        """Whether everything arrives, and on time."""

    def __call__(self, passage: SentMessage) -> MessageDelivery:
        if self.calm or not self._late:
            return ON_TIME
        dice = _mixed(self._start + passage.number)
        chance = (dice & 0xFFFF) / 0x1_0000
        if chance < self._loss:
            return LOST
        if chance < self._late:
            return MessageDelivery(late_ms=(dice >> 16 & 0xFFFF) / 1_000 * (50 if dice >> 40 & 7 == 0 else 1))
        return ON_TIME


def scenario_of(seed: int) -> Scenario:
    """What this seed decides."""
    dice = Random(seed)
    count = dice.choice((2, 3, 3, 3, 4, 4, 5))
    racks = dice.choice(((None,) * 5, ("r0", "r1", "r0", "r1", "r2")))
    slow = dice.choice((1, 1, 1, 20))
    assumptions = TimingAssumptions(
        session_timeout_ms=dice.choice((1_500, 6_000, 18_000)),
        zookeeper_read_ms=0.5 * slow,
        zookeeper_write_ms=2.0 * slow,
        in_flight=dice.choice((1, 1, 2, 10)),
        request_ms=dice.choice((0.2, 1.0, 30.0)),
        catch_up_ms=dice.choice((5, 50, 500)),
        replica_lag_ms=dice.choice((None, 800, 3_000)),
        shutdown_backoff_ms=dice.choice((100, 2_000)),
        start_ms=START_MS,
    )
    return Scenario(
        seed=seed,
        brokers=tuple(range(count)),
        racks=racks[:count],
        generation=generation_of(dice.choice(RELEASES)),
        unclean=dice.random() < 0.2,
        rebalance=dice.random() < 0.5,
        assumptions=assumptions,
        loss=dice.choice((0, 0, 0.01, 0.05)),
        lateness=dice.choice((0, 0, 0.05, 0.3)),
        acts=dice.randrange(6, 22),
    )


def _mixed(number: int) -> int:
    """64 bits that look like dice (splitmix64)."""
    number = (number + 0x9E37_79B9_7F4A_7C15) & 0xFFFF_FFFF_FFFF_FFFF
    number = ((number ^ number >> 30) * 0xBF58_476D_1CE4_E5B9) & 0xFFFF_FFFF_FFFF_FFFF
    number = ((number ^ number >> 27) * 0x94D0_49BB_1331_11EB) & 0xFFFF_FFFF_FFFF_FFFF
    return number ^ number >> 31
