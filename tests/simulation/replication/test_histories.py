"""Five hundred histories of records keep every promise; more do by `python -m tests.simulation --kind replication`."""

from __future__ import annotations

import pytest

from tests.simulation.replication.history import ReplicationHistory, run
from tests.simulation.replication.play import tell
from tests.simulation.replication.scenario import replication_scenario_of
from tests.thorough import the_rest_when_asked

HISTORIES = 500
CHUNK = 50
ONCE_FAILED = (102, 7986, 8923, 10454, 12539, 13463, 16624, 24172, 25425, 2013865)
"""Seeds that found something: 102, a process that joins an ISR with what the one before it had fetched; 7986, a leader
that must ask twice for an ISR; 8923, a broker that leaves before it is registered; 10454, a reassignment that deletes
the last of the ISR; 12539, a record that three had before one of them lost it, and is acknowledged after; 13463 and
16624, a leader that wrote an ISR without hearing so, and goes on by the one before while another is elected; 24172, a
leader that slept through an unclean election and was elected by the next one; 25425, a change that reached a broker
that was paused until its connection broke; 2013865, a leader of before 2.7 that took the whole target of a reassignment
out of the ISR after the controller had seen it in sync."""


@pytest.mark.parametrize("first", the_rest_when_asked(range(0, HISTORIES, CHUNK)))
def test_histories_keep_their_promises_and_are_no_idle_ones(first: int) -> None:
    histories = [run(seed) for seed in range(first, first + CHUNK)]
    ledgers = [ledger for history in histories for ledger in history.brokers.ledgers.values()]
    assert sum(ledger.acknowledged for ledger in ledgers) > 2 * CHUNK
    assert sum(ledger.state is not None and ledger.state.leader_epoch > 0 for ledger in ledgers) > CHUNK / 4
    assert sum(not ledger.is_clean for ledger in ledgers) < CHUNK / 2


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_what_once_failed_fails_no_more(seed: int) -> None:
    run(seed)


def test_a_seed_is_all_there_is_to_a_history() -> None:
    first, again = run(7), run(7)
    assert list(first.cluster.journal) == list(again.cluster.journal)
    assert _records(first) == _records(again) != []


def test_a_history_can_be_read() -> None:
    lines = list(tell(7))
    assert any("leads orders-0" in line for line in lines)
    assert any("---- heal" in line for line in lines)


def test_seeds_decide_on_different_ways_to_replicate() -> None:
    scenarios = [replication_scenario_of(seed) for seed in range(200)]
    assert {scenario.settings.min_insync_replicas for scenario in scenarios} == {1, 2, 3}
    assert {scenario.settings.rules.isr_route for scenario in scenarios} == {"state znode", "AlterPartition"}
    assert {scenario.settings.rules.truncation for scenario in scenarios} == {"leader epoch", "diverging fetch"}
    assert {scenario.controllers.unclean for scenario in scenarios} == {True, False}
    assert {scenario.power_failures for scenario in scenarios} == {True, False}


def _records(history: ReplicationHistory) -> list[object]:
    return [ledger.committed for ledger in history.brokers.ledgers.values()]
