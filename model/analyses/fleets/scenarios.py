"""Which scenarios a fleet plays: every broker, pair and rack, with returns, delays and places of the controller.

A scenario is a function of the cluster, the parameters and its number, so that any worker can make it by itself. Where
else the controller sits changes ids and not fates: one place elsewhere stands for all of them.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import msgspec
import numpy as np

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


class FleetScenario(NamedTuple):
    """What happens, and who is the controller when it begins; None: as in the image (on KRaft, always)."""

    generator: Generator
    scenario: Scenario
    controller: int | None
    text: str


def scenarios(image: ClusterImage, parameters: FleetParameters) -> list[FleetScenario]:
    """All of them, in an order that only the cluster and the parameters decide."""
    made = {"single": _singles, "pair": _pairs, "rack": _racks, "rolling": _rolling, "random": _random}
    return [one for name in GENERATORS if name in parameters.generators for one in made[name](image, parameters)]


def _singles(image: ClusterImage, parameters: FleetParameters) -> Iterator[FleetScenario]:
    for broker in sorted(image.brokers):
        for place in _places(image, (broker,)):
            dies = Act(Deed.KILL, (broker,))
            yield _made("single", (dies,), parameters, place, f"{_named(broker)} fails")
            back = Act(Deed.START, (broker,), after_ms=BACK_MS)
            yield _made("single", (dies, back), parameters, place, f"{_named(broker)} fails, back after 15 min")


def _pairs(image: ClusterImage, parameters: FleetParameters) -> Iterator[FleetScenario]:
    pairs = list(combinations(sorted(image.brokers), 2))[:: max(parameters.every, 1)]
    for one, other in pairs:
        first, second = Act(Deed.KILL, (one,)), Act(Deed.KILL, (other,))
        returns = Act(Deed.START, (one,), after_ms=BACK_MS)
        soon = Act(Deed.KILL, (other,), after_ms=WHILE_CATCHING_UP_MS)
        both = f"{_named(one)} and {_named(other)}"
        for place in _places(image, (one, other)):
            yield _made("pair", (Act(Deed.KILL, (one, other)),), parameters, place, f"{both} fail together")
            yield _made("pair", (first, second), parameters, place, f"{_named(other)} fails after {_named(one)}")
            told = f"{_named(other)} fails while {_named(one)} catches up"
            yield _made("pair", (first, returns, soon), parameters, place, told)


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
    orders = {"by id": sorted(image.brokers), "by rack": sorted(image.brokers, key=lambda id: (_rack(image, id), id))}
    for order, brokers in orders.items():
        for waits, step_ms in ((True, None), (False, 60_000.0)):
            acts: list[Act] = []
            for broker in brokers:
                acts.append(Act(Deed.STOP, (broker,), after_ms=step_ms if acts else None))
                acts.append(Act(Deed.START, (broker,), after_ms=None if waits else 30_000.0))
            how = "each waits for the one before" if waits else "one a minute and a half"
            yield _made("rolling", acts, parameters, None, f"rolling restart {order}, {how}")


def _random(image: ClusterImage, parameters: FleetParameters) -> Iterator[FleetScenario]:
    brokers = sorted(image.brokers)
    for number in range(parameters.count if len(brokers) > 1 else 0):
        dice = np.random.Generator(np.random.Philox(key=[parameters.seed, number]))
        acts = tuple(_sequence(brokers, dice))
        yield _made("random", acts, parameters, None, f"random sequence {number} of seed {parameters.seed}")


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
