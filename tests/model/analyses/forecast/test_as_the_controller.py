"""The reduced machine ends where the controller's own rules end: deaths and returns, each once all is at rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.fleets.scenarios import FleetParameters, Generator, scenarios
from model.analyses.forecast.machine import (
    NOBODY,
    BrokerOutage,
    HistoryState,
    PartitionRules,
    caught_up,
    fenced,
    healthy,
    play,
    registered,
)
from model.drills.drill import PlayedDrill, run
from model.drills.scenario import Act, Deed, of_acts, ruled_by, written
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, ControllerElected
from tests.model.drills.clusters import became, cluster, topic

BROKERS = (1, 2, 3, 4)
OTHER = 5
"""It has no replica, rules, and never dies."""


@st.composite
def deaths_and_returns(draw: st.DrawFn) -> list[Act]:
    acts: list[Act] = []
    dead: set[int] = set()
    for _ in range(draw(st.integers(1, 7))):
        broker = draw(st.sampled_from(BROKERS))
        acts.append(Act(Deed.START if broker in dead else Deed.KILL, (broker,)))
        dead ^= {broker}
    return acts


def reduced(rules: PartitionRules, replicas: tuple[int, ...], acts: list[Act]) -> HistoryState:
    state = healthy(rules)
    for act in acts:
        if act.brokers[0] not in replicas:
            continue
        who = replicas.index(act.brokers[0])
        step = fenced(rules, state, who) if act.deed is Deed.KILL else registered(rules, state, who, forgets=True)
        state = step.state
        for each in range(rules.replicas) if state.leader != NOBODY else ():
            if state.alive >> each & 1 and not state.isr >> each & 1:
                state = caught_up(rules, state, each).state
    return state


@settings(deadline=None)
@given(st.lists(st.sampled_from(BROKERS), min_size=1, max_size=4, unique=True), st.booleans(), deaths_and_returns())
def test_leader_and_isr_are_as_in_the_drill(replicas: list[int], unclean: bool, acts: list[Act]) -> None:
    allowed = str(unclean).lower()
    records = topic(replicas, replicas, replicas[0], unclean_leader_election_enable=allowed)
    image = cluster((*BROKERS, OTHER), *records, controller=OTHER)
    leader, _, isr = became(run(image, of_acts(acts)))
    rules = PartitionRules(len(replicas), 1, unclean=unclean)
    state = reduced(rules, tuple(replicas), acts)
    assert leader == (NOBODY if state.leader == NOBODY else replicas[state.leader])
    assert set(isr) == {broker for who, broker in enumerate(replicas) if state.isr >> who & 1}


# In time: each scenario of a fleet is played by the controller's own rules, and by the reduced machine

ALLOWED_MS = 500.0
"""Of each stretch without a leader: elections follow one another, and a controller that died has to be replaced."""
FIVE = cluster(
    (1, 2, 3, 4, 5),
    *topic((1, 2, 3), (1, 2, 3), 1, name="three", min_insync_replicas="2"),
    *topic((4, 1), (4, 1), 4, name="two"),
    *topic((2, 5, 4), (2, 5, 4), 2, name="unclean", unclean_leader_election_enable="true"),
    *topic((3,), (3,), 3, name="lonely"),
)


def outages_in(drill: PlayedDrill) -> dict[int, list[BrokerOutage]]:
    """Who was out when, with the drill's own delays: its session, its way back, its catching up.

    While there is no controller nobody is fenced, and nobody who comes back is heard of.
    """
    found: dict[int, list[BrokerOutage]] = {}
    crashed = dict[int, int]()
    without = list[tuple[int, int]]()
    for row in drill.timeline.rows:
        at = round(row.at_ms)
        if isinstance(row, BrokerCrashed):
            crashed[row.broker] = at
            found.setdefault(row.broker, []).append(BrokerOutage(at, at + 18_000, 13, 1 << 60, 500))
        elif isinstance(row, BrokerBooted) and found.get(row.broker):
            last = found[row.broker][-1]
            found[row.broker][-1] = last._replace(end=max(at + 30, last.fence + last.elect))
        elif isinstance(row, ControllerElected) and row.old in crashed:
            without.append((crashed[row.old], at))

    def heard(at: int) -> int:
        return max([at, *(until for since, until in without if since <= at <= until)])

    return {
        broker: [each._replace(fence=heard(each.fence), end=heard(each.end)) for each in every]
        for broker, every in found.items()
    }


def heals_between(replicas: tuple[int, ...], outages: dict[int, list[BrokerOutage]]) -> bool:
    """Whether all are in sync between two failures: preferred leaders lead again at once here, in the drill later."""
    own = sorted(each for replica in replicas for each in outages.get(replica, ()))
    until = 0
    for each in own:
        if until and each.start > until:
            return True
        until = max(until, each.end + each.rejoin)
    return False


@pytest.mark.parametrize(
    "generator", ["single", "pair", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("random",))]
)
def test_minutes_without_leader_are_those_of_the_fleet(generator: Generator) -> None:
    compared = 0
    every = 4 if generator == "pair" else 1
    for one in scenarios(FIVE, FleetParameters(generators=(generator,), count=1_000, every=every, seed=3)):
        drill = run(ruled_by(FIVE, one.controller), one.scenario)
        outages, end = outages_in(drill), round(drill.timeline.end_ms)
        for name, held in FIVE.topics.items():
            replicas = tuple(int(each) for each in held.replicas[0] if each >= 0)
            if heals_between(replicas, outages):
                continue
            rules = PartitionRules(
                len(replicas), min(2, len(replicas)) if name == "three" else 1, unclean=name == "unclean"
            )
            course = play(rules, replicas, outages, end)
            own = [each for each in drill.timeline.outages if each.partition.topic == name]
            lost = sum(each.lasted_ms(end) for each in own)
            assert abs(course.leaderless - lost) <= ALLOWED_MS * max(len(own), 1), (written(one.scenario.acts), name)
            compared += 1
    assert compared > 50
