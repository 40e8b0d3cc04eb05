"""A few rounds, so that the rounds themselves stay whole; `python -m tests.sandbox_rounds` plays many."""

import random

from hypothesis import given
from hypothesis import strategies as st

from model.sandbox import faults
from tests.sandbox_rounds.rounds import lose_records, play_rounds, random_kraft_round, random_round


@given(st.integers(0, 2**32))
def test_a_round_hits_different_places(seed: int):
    deeds = random_round(random.Random(seed))
    assert 1 <= len(deeds) <= 2
    brokers = [str(deed.broker) for deed in deeds if isinstance(deed, faults.Kill | faults.Pause | faults.Terminate)]
    assert len(set(brokers)) == len(brokers)
    assert random_round(random.Random(seed)) == deeds


@given(st.integers(0, 2**32))
def test_a_round_in_kraft_mode_leaves_a_majority_and_two_brokers(seed: int):
    deeds = random_kraft_round(random.Random(seed))
    assert 1 <= len(deeds) <= 2
    places = [
        str(deed.broker if isinstance(deed, faults.Kill | faults.Pause | faults.Terminate) else deed.between[0])
        for deed in deeds
        if isinstance(deed, faults.Kill | faults.Pause | faults.Terminate | faults.CutLink | faults.SlowLink)
    ]
    assert len(places) == len(deeds)
    assert len({place in ("1", "2", "3") for place in places}) == len(places)


async def test_random_faults_lose_no_acknowledged_record():
    result = await play_rounds(2, seed=6, tell=lambda _: None)
    assert result.outcome.passed, [step.text for step in result.outcome.steps if not step.passed]
    assert result.report.is_clean, str(result.report)
    assert result.report.acknowledged


async def test_an_unclean_election_loses_records_and_they_are_named():
    report = await lose_records(lambda _: None)
    assert report.lost
    assert not report.unread
    assert not report.duplicated
    runs = [each.last_number - each.first_number + 1 for each in report.lost_records]
    assert sum(runs) == report.lost == report.acknowledged - report.found
