"""How another planner's plan stands to the best one, objective by objective. It measures nothing itself."""

from collections.abc import Iterator

import msgspec

from model.cluster.words import counted
from model.planning.optimum.judging import Judged

COSTS = ("moves", "bytes", "leader_changes")


class Standing(msgspec.Struct, frozen=True):
    """The sentence, and those of `COSTS` that may be held against their bound.

    A cost may not where the plan breaks a rule, or is worse in something that counts more: it is low at that price.
    """

    verdict: str
    comparable: tuple[str, ...]


def standing_of(plan: Judged, best: Judged, *, is_proven: bool) -> Standing:
    """A plan beside kdrill's own for the same wish; `is_proven`: nothing is better than that."""
    whose = "the best plan" if is_proven else "kdrill's own plan"
    if plan.broken:
        return Standing(f"no plan for this wish: {'; '.join(_broken(plan))}", ())
    for place, (name, own) in enumerate(best.figures.items()):
        if (theirs := plan.figures[name]) != own:
            better, worse = _DIFFERENCES[name]
            verdict = f"not as good as {whose}: {worse}" if theirs > own else f"better than {whose}: {better}"
            counts = list(best.figures)[: place + 1] if theirs > own else list(_still_good(plan, best))
            return Standing(verdict, _costs(counts))
    return Standing(f"as good as {whose}", COSTS)


def _still_good(plan: Judged, best: Judged) -> Iterator[str]:
    """What counts, as far as nothing before it is worse."""
    for name, own in best.figures.items():
        yield name
        if plan.figures[name] > own:
            return


def _costs(names: list[str]) -> tuple[str, ...]:
    return tuple(cost for cost in COSTS if cost in names)


def _broken(plan: Judged) -> Iterator[str]:
    for rule, count in plan.broken.items():
        one, many = _RULES[rule]
        yield f"{counted(count, 'broker' if rule == 'full' else 'partition')} {one if count == 1 else many}"


_RULES = {
    "newcomer": ("does not get the new broker", "do not get the new broker"),
    "twice": ("names a broker twice", "name a broker twice"),
    "touched": ("should stay as it is", "should stay as they are"),
    "others": ("gets other replicas", "get other replicas"),
    "leaving": ("is on a broker that leaves or is dead", "are on brokers that leave or are dead"),
    "factor": ("has another number of replicas than it should", "have another number of replicas than they should"),
    "racks": ("is on fewer racks than it could be", "are on fewer racks than they could be"),
    "full": ("gets more than it can hold", "get more than they can hold"),
}
"""Of `Judged.broken`, for one and for several."""

_DIFFERENCES = {
    "replicas": ("replicas are more even", "replicas are less even"),
    "bytes": ("fewer bytes are copied", "more bytes are copied"),
    "moves": ("fewer replicas are copied", "more replicas are copied"),
    "racks": ("partitions are on more racks", "partitions are on fewer racks"),
    "leaders": ("preferred leaders are more even", "preferred leaders are less even"),
    "leader_changes": ("fewer preferred leaders change", "more preferred leaders change"),
}
