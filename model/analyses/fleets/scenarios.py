"""Which scenarios a fleet plays: every broker, pair and rack, with returns, delays and places of the controller.
And what they come to, a row each.

A scenario is a function of the cluster, the parameters and its number: any worker makes those it plays, and no others.
Where else the controller sits changes ids and not fates: one place elsewhere stands for all of them.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import accumulate
from typing import Literal, NamedTuple, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.cluster.cluster_image import ClusterImage
from model.drills.scenario import Act, Deed, Scenario, of_acts, of_rack
from model.drills.voters import is_kraft

Generator = Literal["single", "pair", "rack", "rolling", "random"]
GENERATORS: tuple[Generator, ...] = ("single", "pair", "rack", "rolling", "random")

BACK_MS = 900_000.0
"""A broker that comes back does so after a quarter of an hour."""
WHILE_CATCHING_UP_MS = 250.0
"""After its return a broker is still catching up; by `Assumptions.catch_up_ms` it takes twice as long."""
MOST_EVENTS = 6
WITHIN_MS = 1_800_000.0
"""Random sequences have two to MOST_EVENTS deaths and returns, within half an hour."""


class FleetParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Which scenarios, and under which rules."""

    generators: tuple[Generator, ...] = ("single", "pair", "rack")
    unclean: bool = False
    """Every topic may elect a leader that is not in sync."""
    count: int = 1_000
    """Random sequences."""
    seed: int = 0
    every: int = 1
    """Of the pairs one in so many is played."""
    first: int = 0
    end: int | None = None
    """Only the scenarios of these numbers, up to `end`; None: to the last."""


class FleetScenario(NamedTuple):
    """What happens, and who is the controller when it begins; None: as in the image (on KRaft, always)."""

    generator: Generator
    scenario: Scenario
    controller: int | None
    text: str


class _Part(NamedTuple):
    """The scenarios of one generator: how many, and how one is made."""

    size: int
    make: Callable[[int], FleetScenario]


class Scenarios(Sequence[FleetScenario]):
    """All of them, in an order that only the cluster and the parameters decide; each is made when it is looked at."""

    def __init__(self, image: ClusterImage, parameters: FleetParameters) -> None:
        self._image = image
        self._parameters = parameters
        self._brokers: list[int] = sorted(image.brokers)
        made = {
            "single": self._singles,
            "pair": self._pairs,
            "rack": lambda: _listed(list(_racks(image, parameters))),
            "rolling": lambda: _listed(list(_rolling(image, parameters))),
            "random": lambda: _Part(parameters.count if len(self._brokers) > 1 else 0, self._random),
        }
        self._parts = [made[name]() for name in GENERATORS if name in parameters.generators]
        self._ends = list(accumulate(part.size for part in self._parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> FleetScenario: ...
    @overload
    def __getitem__(self, index: slice) -> list[FleetScenario]: ...
    def __getitem__(self, index: int | slice) -> FleetScenario | list[FleetScenario]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = bisect_right(self._ends, index)
        return self._parts[part].make(index - (self._ends[part - 1] if part else 0))

    def of(self, parameters: FleetParameters) -> "Scenarios":
        """The same, of which only `first` and `end` are others."""
        same = copy(self)
        same._parameters = parameters
        return same

    @property
    def numbers(self) -> range:
        """The numbers of those that the parameters ask for."""
        last = len(self) if self._parameters.end is None else min(self._parameters.end, len(self))
        return range(self._parameters.first, last)

    def _places(self, victims: int) -> int:
        """In how many places the controller may be, with so many victims."""
        return len(list(_places(self._image, self._brokers[:victims]))) if len(self._brokers) >= victims else 0

    def _singles(self) -> _Part:
        places = self._places(1)
        return _Part(2 * places * len(self._brokers), partial(self._single, places))

    def _single(self, places: int, number: int) -> FleetScenario:
        broker = self._brokers[number // (2 * places)]
        place = list(_places(self._image, (broker,)))[number // 2 % places]
        dies, back = Act(Deed.KILL, (broker,)), Act(Deed.START, (broker,), after_ms=BACK_MS)
        if number % 2 == 0:
            return _made("single", (dies,), self._parameters, place, f"{_named(broker)} fails")
        return _made("single", (dies, back), self._parameters, place, f"{_named(broker)} fails, back after 15 min")

    @cached_property
    def _paired(self) -> NDArray[np.int64]:
        """Places of the brokers of each pair that is played."""
        places: NDArray[np.int64] = np.stack(np.triu_indices(len(self._brokers), 1), 1)
        return places[:: max(self._parameters.every, 1)]

    def _pairs(self) -> _Part:
        places = self._places(2)
        return _Part(3 * places * len(self._paired) if places else 0, partial(self._pair, places))

    def _pair(self, places: int, number: int) -> FleetScenario:
        pair: list[int] = self._paired[number // (3 * places)].tolist()
        one, other = (self._brokers[place] for place in pair)
        controller = list(_places(self._image, (one, other)))[number // 3 % places]
        first, second = Act(Deed.KILL, (one,)), Act(Deed.KILL, (other,))
        returns = Act(Deed.START, (one,), after_ms=BACK_MS)
        soon = Act(Deed.KILL, (other,), after_ms=WHILE_CATCHING_UP_MS)
        acts, text = (
            ((Act(Deed.KILL, (one, other)),), f"{_named(one)} and {_named(other)} fail together"),
            ((first, second), f"{_named(other)} fails after {_named(one)}"),
            ((first, returns, soon), f"{_named(other)} fails while {_named(one)} catches up"),
        )[number % 3]
        return _made("pair", acts, self._parameters, controller, text)

    def _random(self, number: int) -> FleetScenario:
        seed = self._parameters.seed
        dice = np.random.Generator(np.random.Philox(key=[seed, number]))
        acts = tuple(_sequence(self._brokers, dice))
        return _made("random", acts, self._parameters, None, f"random sequence {number} of seed {seed}")


MOST_PAIRED = 20_000
"""Scenarios of pairs that are played where nobody says which."""


def pairs_step(image: ClusterImage) -> int:
    """One pair in so many is played then: 1 for all."""
    pairs = len(Scenarios(image, FleetParameters(generators=("pair",))))
    return -(-pairs // MOST_PAIRED) or 1


def left_out(every: int) -> str:
    """What is said of pairs that are not played; empty where all are."""
    return f"of the pairs of brokers one in {every:,} is played, the others are left out" if every > 1 else ""


def scenarios(image: ClusterImage, parameters: FleetParameters) -> Scenarios:
    """All of them, whatever `first` and `end` say."""
    return Scenarios(image, parameters)


def _listed(some: Sequence[FleetScenario]) -> _Part:
    def make(number: int) -> FleetScenario:
        return some[number]

    return _Part(len(some), make)


def _racks(image: ClusterImage, parameters: FleetParameters) -> Iterator[FleetScenario]:
    racks = sorted({broker.rack for broker in image.brokers.values() if broker.rack})
    for rack in racks if len(racks) > 1 else ():
        inside = of_rack(image, rack).kill
        dies = Act(Deed.KILL, inside)
        for place in _places(image, inside, inside[:1]):
            yield _made("rack", (dies,), parameters, place, f"rack {rack} fails")
        for other in sorted(image.brokers.keys() - set(inside)):
            if len(image.brokers) > len(inside) + 1:
                elsewhere = next(iter(_places(image, (*inside, other), ())))
                told = f"{_named(other)} fails after rack {rack}"
                yield _made("rack", (dies, Act(Deed.KILL, (other,))), parameters, elsewhere, told)


def _rolling(image: ClusterImage, parameters: FleetParameters) -> Iterator[FleetScenario]:
    """A controlled restart of every broker, the next once nothing happens any more, or at a fixed step."""
    by_id, by_rack = sorted(image.brokers), sorted(image.brokers, key=lambda id: (_rack(image, id), id))
    orders = [("by id", by_id), *([("by rack", by_rack)] if by_rack != by_id else [])]
    for order, brokers in orders if image.brokers else ():
        for waits, step_ms in ((True, None), (False, 60_000.0)):
            acts: list[Act] = []
            for broker in brokers:
                acts.append(Act(Deed.STOP, (broker,), after_ms=step_ms if acts else None))
                acts.append(Act(Deed.START, (broker,), after_ms=None if waits else 30_000.0))
            how = "each waits for the one before" if waits else "one a minute and a half"
            yield _made("rolling", acts, parameters, None, f"rolling restart {order}, {how}")


def _sequence(brokers: Sequence[int], dice: np.random.Generator) -> Iterator[Act]:
    """Somebody lives at any time."""
    dead: set[int] = set()
    count = 2 + int(dice.random() * (MOST_EVENTS - 1))
    at_ms = sorted(float(round(WITHIN_MS * dice.random())) for _ in range(count - 1))
    for number in range(count):
        alive = [broker for broker in brokers if broker not in dead]
        returns = bool(dead) and (len(alive) == 1 or dice.random() < 0.4)
        some = sorted(dead) if returns else alive
        broker = some[int(dice.random() * len(some))]
        dead.symmetric_difference_update({broker})
        before_ms = at_ms[number - 2] if number > 1 else 0.0
        after_ms = at_ms[number - 1] - before_ms if number else None
        yield Act(Deed.START if returns else Deed.KILL, (broker,), after_ms=after_ms)


def _places(image: ClusterImage, victims: Sequence[int], on: Sequence[int] | None = None) -> Iterator[int | None]:
    """Where the controller is: elsewhere, and on each of the victims that matter."""
    if is_kraft(image) or image.controller.broker is None:
        yield None
        return
    others = sorted(image.brokers.keys() - set(victims))
    if image.controller.broker in others:
        yield image.controller.broker
    elif others:
        yield others[0]
    yield from victims if on is None else on


def _made(
    generator: Generator, acts: Sequence[Act], parameters: FleetParameters, controller: int | None, text: str
) -> FleetScenario:
    scenario = msgspec.structs.replace(of_acts(acts), unclean=parameters.unclean)
    return FleetScenario(generator, scenario, controller, text)


def _named(broker: int) -> str:
    return f"b{broker}"


def _rack(image: ClusterImage, broker: int) -> str:
    return image.brokers[broker].rack or ""


class Down(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker that was down: from when to when, in ms of the drill."""

    broker: int
    at_ms: float
    back_ms: float | None = None
    """When it was started again; None: never."""


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scenario comes to. Times are seconds of virtual time; sums over partitions are partition-seconds."""

    number: int
    generator: str
    text: str
    scenario: str
    """What is played, as `model.drills.scenario.written` writes it."""
    controller: int | None = None
    """Who is the controller when it begins."""
    down: tuple[Down, ...] = ()
    """Who was down, in the order in which they fell."""
    unclean_elections: int = 0
    """How often a leader was elected that was not in sync."""
    lost: int = 0
    """Partitions whose leader was elected though it was not in sync: acknowledged records may be gone."""
    offline_after: int = 0
    """Partitions that have no leader in the end, and had one."""
    under_min_after: int = 0
    """Partitions that are under min ISR in the end, and were not."""
    leaderless: int = 0
    """Partitions that had no leader for some time."""
    first_leaderless_s: float | None = None
    """When the first of them lost it."""
    leaderless_s: float = 0.0
    longest_s: float = 0.0
    """The longest that one of them had none."""
    under_min: int = 0
    """Partitions that refused producers with acks=all for some time: without a leader, or under min ISR."""
    under_min_s: float = 0.0
    moved: int = 0
    """Partitions that are led by another broker in the end."""
    most_leaders: int = 0
    """Of one broker, in the end."""
    leaders_after: tuple[int, ...] = ()
    """In the end, by broker in ascending order."""
    ended_s: float = 0.0
    at_rest: bool = True
    """Whether it was over then; else it was still going on after an hour of virtual time."""
    error: str = ""
    """Why it could not be played, one line."""

    @property
    def badness(self) -> tuple[float, ...]:
        """The order of all lists: lost, then offline, then under min ISR, then for how long."""
        return (self.lost, self.offline_after, self.under_min_after, self.leaderless_s, self.under_min_s, self.moved)

    @property
    def hurts(self) -> bool:
        """Whether records are lost, or partitions are left offline or under min ISR."""
        return bool(self.lost or self.offline_after or self.under_min_after)


class FleetResult(msgspec.Struct, frozen=True):
    """The rows in the order of their numbers."""

    rows: tuple[FleetRow, ...]
    scenarios: int = 0
    """Of so many: there are fewer rows while it is played, or where it was stopped."""
    every: int = 1
    """Of the pairs of brokers one in so many is among them."""

    @property
    def worst_first(self) -> tuple[FleetRow, ...]:
        return tuple(sorted(self.rows, key=lambda row: (*(-each for each in row.badness), row.number)))
