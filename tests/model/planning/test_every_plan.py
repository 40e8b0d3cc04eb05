"""That what is called the optimum is one, in every mode: beside every plan there is, and beside random ones.

`KDRILL_PLANS=N` looks at so many clusters of each mode.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.cluster.topic_image import Ints, padded
from model.controller.requests import RequestedMoves, requested_moves
from model.planning.documents import forward
from model.planning.layout import layout_of
from model.planning.optimum import highs, solving
from model.planning.optimum.measures import Judged
from model.planning.optimum.solving import solve
from model.planning.plan import Bound, Plan, compared
from model.planning.planner import judge, plan, score
from model.planning.request import PlanError, setting_of
from tests.model.planning.every_plan import Case, Figures, Row, beats_a_bound, every_figures, judged
from tests.model.planning.wishes import MODES, Wished, case_of, wished

CLUSTERS = int(os.environ.get("KDRILL_PLANS", "20"))
RANDOM_PLANS = 100
"""Of each of the larger clusters."""


def planned(wish: Wished) -> Plan | None:
    """None: there is no plan."""
    try:
        return plan(wish.image, wish.request, wish.sizes)
    except PlanError:
        return None


def placed(made: Plan, case: Case, brokers: list[int], names: list[TopicPartition]) -> list[Row]:
    """Replicas of each partition once the plan's file was carried out, as places in `brokers`."""
    targets = requested_moves(forward(made).encode()).targets if made.changes else {}
    at = {broker: place for place, broker in enumerate(brokers)}
    done = [targets.get(name) for name in names]
    return [
        old if new is None else tuple(at[broker] for broker in new) for old, new in zip(case.before, done, strict=True)
    ]


def check_rules(case: Case, after: Sequence[Row]) -> None:
    """Every partition has one of its ways: that is racks, replication factor, brokers that stay, who must not move."""
    for ways, row in zip(case.ways, after, strict=True):
        assert len(set(row)) == len(row)
        assert (row[0], {*row}) in [(way[0], {*way}) for way in ways]


def check_batches(made: Plan, wish: Wished) -> None:
    """Batch after batch, each partition goes once, and never has fewer replicas than before or after, nor one twice."""
    now = {TopicPartition(topic, n): tuple(row) for topic, rows in wish.topics.items() for n, row in enumerate(rows)}
    staying = {share.broker for share in made.after.brokers}
    moved: set[TopicPartition] = set()
    for batch in made.batches:
        part = made.changes[batch.first : batch.end]
        for name, to in requested_moves(forward(made, part).encode()).targets.items():
            assert name not in moved
            moved.add(name)
            assert len(set(to)) == len(to) and {*to} - {*now[name]} <= staying
            while_it_runs = {*now[name], *to}
            assert len(while_it_runs) >= max(len(now[name]), len(to))
            now[name] = to
    assert moved == {change.name for change in made.changes}
    assert all(now[change.name] == change.after for change in made.changes)


def bounds_of(bound: Bound) -> Mapping[str, int]:
    return {"moves": bound.moves, "bytes": bound.bytes or 0, "changes": bound.leader_changes}


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_better_than_what_is_called_optimal(mode: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(CLUSTERS):
        wish = wished(mode, Random(f"{mode} {seed}"), most_brokers=4, most_partitions=4)
        made = planned(wish)
        if made is None:
            seen["no plan"] += 1
            continue
        assert made.bound is not None
        case, brokers, names = case_of(wish)
        after = placed(made, case, brokers, names)
        check_rules(case, after)
        check_batches(made, wish)
        figures, every = judged(case, after), every_figures(case)
        told = f"seed {seed}: {made.bound.method}, {figures}, best {min(every)} of {case.order}, {made.bound}"
        assert beats_a_bound(case, figures, bounds_of(made.bound), every) is None, told
        assert made.bound.is_proven and figures == min(every), told
        seen["proven"] += 1
    assert seen["proven"] >= CLUSTERS / 3, seen


@pytest.mark.parametrize("mode", ["rebalance", "both", "bytes", "tolerance", "factor, balanced"])
def test_a_search_claims_no_more_than_it_knows(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "MOST_CLASSES", 0)
    for seed in range(CLUSTERS):
        wish = wished(mode, Random(f"{mode} {seed}"), most_brokers=4, most_partitions=4)
        made = planned(wish)
        if made is None:
            continue
        assert made.bound is not None
        case, brokers, names = case_of(wish)
        after = placed(made, case, brokers, names)
        check_rules(case, after)
        figures, every = judged(case, after), every_figures(case)
        told = f"seed {seed}: {figures}, best {min(every)} of {case.order}, {made.bound}"
        assert beats_a_bound(case, figures, bounds_of(made.bound), every) is None, told
        assert not made.bound.is_proven or figures == min(every), told


@pytest.mark.parametrize("late", [0, 1])
def test_what_the_solver_has_not_proven_is_not_called_optimal(late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if one of its programs, the one for moves or that for leader changes, had run out of time before the end."""
    wishes = [wished("rebalance", Random(f"unproven {seed}"), most_brokers=4, most_partitions=4) for seed in range(10)]
    found, asked = highs.minimum, count()

    def almost_proven(*program: Any, **more: Any) -> highs.Minimum | None:
        least = found(*program, **more)
        return least._replace(bound=least.bound - 1) if least and next(asked) == late else least

    def claims() -> Iterator[bool]:
        nonlocal asked
        for wish in wishes:
            asked = count()
            made = planned(wish)
            if made and made.bound and made.cost.moves and made.cost.leader_changes:
                yield made.bound.is_proven

    proven = list(claims())
    assert all(proven) and len(proven) > 1
    monkeypatch.setattr(highs, "minimum", almost_proven)
    assert not all(claims())


@pytest.mark.parametrize("mode", MODES)
def test_random_plans_beat_none_that_is_called_optimal(mode: str) -> None:
    for seed in range(max(CLUSTERS // 10, 1)):
        dice = Random(f"larger {mode} {seed}")
        wish = wished(mode, dice, most_brokers=9, most_partitions=40)
        made = planned(wish)
        if made is None:
            continue
        assert made.bound is not None
        case, brokers, names = case_of(wish)
        ours = placed(made, case, brokers, names)
        check_rules(case, ours)
        check_batches(made, wish)
        figures, standing = judged(case, ours), Standings(wish, made)
        for theirs in random_plans(case, ours, dice):
            found = judged(case, theirs)
            told = f"seed {seed}: {made.bound}, {figures}, beaten by {found} of {case.order}"
            assert not made.bound.is_proven or figures <= found, told
            assert beats_a_bound(case, figures, bounds_of(made.bound), [found]) is None, told
            standing.check([tuple(brokers[place] for place in row) for row in theirs], figures, found)


def random_plans(case: Case, ours: Sequence[Row], dice: Random) -> list[list[Row]]:
    """Some that differ from ours in a few partitions, some where each takes one of its cheapest ways, some any."""
    cheap = [[way for way in ways if _cost(case, row, way) == least] for row, (ways, least) in enumerate(_least(case))]
    plans: list[list[Row]] = []
    for number in range(RANDOM_PLANS):
        if number % 3 == 0:
            rows = [dice.choice(ways) for ways in cheap]
        elif number % 30 == 1:
            rows = [dice.choice(ways) for ways in case.ways]
        else:
            rows = list(ours)
            for row in dice.sample(range(len(rows)), min(len(rows), dice.randint(1, 4))):
                rows[row] = dice.choice(case.ways[row] if dice.random() < 0.5 else cheap[row])
        plans.append(rows)
    return plans


def _least(case: Case) -> list[tuple[list[Row], tuple[int, bool]]]:
    return [(ways, min(_cost(case, row, way) for way in ways)) for row, ways in enumerate(case.ways)]


def _cost(case: Case, row: int, way: Row) -> tuple[int, bool]:
    before = case.before[row]
    return sum(broker not in before for broker in way), way[0] != before[0]


class Standings:
    """What `--score` says of other plans for a wish is what their figures say."""

    def __init__(self, wish: Wished, made: Plan) -> None:
        assert made.bound is not None
        self._layout, self._request = layout_of(wish.image, wish.sizes), wish.request
        self._setting, self._is_proven = setting_of(self._layout, wish.request), made.bound.is_proven
        self._best = self._judged(self._layout.moved({change.name: change.after for change in made.changes}))
        assert not self._best.broken

    def check(self, rows: list[Row], ours: Figures, theirs: Figures) -> None:
        judgement = self._judged(padded(rows))
        if judgement.broken:
            assert self._request.capacity is not None and [*judgement.broken] == ["full"]
            return
        verdict = compared(judgement, self._best, is_proven=self._is_proven).verdict
        expected = "as good as" if theirs == ours else "not as good as" if theirs > ours else "better than"
        assert verdict.startswith(expected), (verdict, theirs, ours)

    def _judged(self, replicas: Ints) -> Judged:
        return judge(self._layout, self._setting, self._request, replicas)


def test_a_plan_that_does_not_do_what_is_wanted_is_not_cheaper() -> None:
    dice = Random("cheaper")
    seen: Counter[str] = Counter()
    for mode in ("rebalance", "remove", "racks", "replace", "factor", "leaders", "bytes"):
        for _ in range(3):
            wish = wished(mode, dice, most_brokers=6, most_partitions=20)
            ours = planned(wish)
            if ours is None:
                continue
            scored = score(wish.image, RequestedMoves({}, {}), wish.request, "f", wish.sizes, solve)
            assert scored.comparison is not None
            assert not scored.comparison.verdict.startswith("better")
            if ours.changes:
                assert "moves" not in scored.comparison.comparable or scored.cost.moves >= ours.cost.moves
            seen[scored.comparison.verdict.split(":")[0]] += 1
    assert seen["no plan for this wish"] and seen["not as good as the best plan"], seen
