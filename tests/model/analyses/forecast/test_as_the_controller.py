"""The reduced machine ends where the controller's own rules end: deaths and returns, each once all is at rest."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.forecast.machine import NOBODY, Rules, State, caught_up, fenced, healthy, registered
from model.drills.drill import run
from model.drills.scenario import Act, Deed, of_acts
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


def reduced(rules: Rules, replicas: tuple[int, ...], acts: list[Act]) -> State:
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
    rules = Rules(len(replicas), 1, unclean=unclean)
    state = reduced(rules, tuple(replicas), acts)
    assert leader == (NOBODY if state.leader == NOBODY else replicas[state.leader])
    assert set(isr) == {broker for who, broker in enumerate(replicas) if state.isr >> who & 1}
