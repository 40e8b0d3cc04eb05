"""Every move between the states of a partition, legal or not, and the gauge that counts those offline."""

import pytest

from model.controller.elections import Liveness
from model.controller.generations import generation_of
from model.controller.leader_and_isr import UNLED, LeaderAndIsr
from model.controller.state_machines import (
    PARTITIONS,
    IllegalTransition,
    PartitionAction,
    PartitionState,
    partition_state_at_startup,
)

NON_EXISTENT, NEW, ONLINE, OFFLINE = PartitionState

LEGAL = {
    NEW: {NON_EXISTENT},
    ONLINE: {NEW, ONLINE, OFFLINE},
    OFFLINE: {NEW, ONLINE, OFFLINE},
    NON_EXISTENT: {OFFLINE},
}


@pytest.mark.parametrize("target", PartitionState)
@pytest.mark.parametrize("source", PartitionState)
@pytest.mark.parametrize("release", ["0.8.0", "0.8.1", "1.1", "3.9"])
def test_every_move(release: str, source: PartitionState, target: PartitionState) -> None:
    table = generation_of(release).partition_transitions
    legal = LEGAL[target] - ({OFFLINE} if (release, target) == ("0.8.0", OFFLINE) else set())
    action = table.action(source, target)
    if source in legal:
        assert isinstance(action, PartitionAction)
    else:
        assert isinstance(action, IllegalTransition)
        assert (action.source, action.target, set(action.legal_sources)) == (source, target, legal)


def test_what_moves_take() -> None:
    assert PARTITIONS.action(NEW, ONLINE) is PartitionAction.INITIALIZE
    assert PARTITIONS.action(ONLINE, ONLINE) is PARTITIONS.action(OFFLINE, ONLINE) is PartitionAction.ELECT
    others = {action for (_, target), action in PARTITIONS.moves.items() if target is not ONLINE}
    assert others == {PartitionAction.REMEMBER}


def test_an_illegal_move_says_what_would_be_legal() -> None:
    assert str(PARTITIONS.action(NON_EXISTENT, OFFLINE)) == (
        "OfflinePartition can be reached from NewPartition, OnlinePartition, OfflinePartition, not from "
        "NonExistentPartition"
    )


def test_a_table_for_documents() -> None:
    rows = PARTITIONS.rows()
    assert len(rows) == 8
    assert rows[0] == ("NonExistentPartition", "NewPartition", PartitionAction.REMEMBER.value)


def test_what_a_new_controller_takes_a_partition_for() -> None:
    liveness = Liveness(frozenset({1, 2}), shutting_down=frozenset({2}))
    assert partition_state_at_startup(UNLED, liveness) is NEW
    assert partition_state_at_startup(LeaderAndIsr(1, 0, (1,)), liveness) is ONLINE
    assert partition_state_at_startup(LeaderAndIsr(2, 0, (2,)), liveness) is OFFLINE
    assert partition_state_at_startup(LeaderAndIsr(-1, 3, (3,)), liveness) is OFFLINE
