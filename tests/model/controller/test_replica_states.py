"""Every move between the states of a replica, legal or not, by generation."""

from itertools import product

import pytest

from model.controller.generations import generation_of
from model.controller.state_machines import (
    REPLICAS,
    IllegalTransition,
    ReplicaAction,
    ReplicaState,
    replica_state_at_startup,
)

NON_EXISTENT, NEW, ONLINE, OFFLINE, STARTED, SUCCESSFUL, INELIGIBLE = ReplicaState

LEGAL = {
    NEW: {NON_EXISTENT},
    ONLINE: {NEW, ONLINE, OFFLINE, INELIGIBLE},
    OFFLINE: {NEW, ONLINE, OFFLINE, INELIGIBLE},
    STARTED: {OFFLINE},
    SUCCESSFUL: {STARTED},
    INELIGIBLE: {OFFLINE, STARTED},
    NON_EXISTENT: {SUCCESSFUL},
}
OLD = LEGAL | {INELIGIBLE: {STARTED}}
OLDEST = {NEW: {NON_EXISTENT}, ONLINE: {NEW, ONLINE, OFFLINE}, OFFLINE: {NEW, ONLINE}, NON_EXISTENT: {OFFLINE}}
BY_RELEASE: dict[str, dict[ReplicaState, set[ReplicaState]]] = {
    "0.8.0": OLDEST,
    "0.8.1": OLD,
    "2.2": OLD,
    "2.3": LEGAL,
    "3.9": LEGAL,
}


@pytest.mark.parametrize("release", BY_RELEASE)
def test_every_move(release: str) -> None:
    for source, target in product(ReplicaState, ReplicaState):
        action = generation_of(release).replica_transitions.action(source, target)
        legal = BY_RELEASE[release].get(target, set())
        if source in legal:
            assert isinstance(action, ReplicaAction), (source, target)
        else:
            assert isinstance(action, IllegalTransition), (source, target)
            assert (action.source, action.target, set(action.legal_sources)) == (source, target, legal)


@pytest.mark.parametrize(
    ("source", "target", "action"),
    [
        (NON_EXISTENT, NEW, ReplicaAction.START),
        (NEW, ONLINE, ReplicaAction.JOIN),
        (OFFLINE, ONLINE, ReplicaAction.REFRESH),
        (INELIGIBLE, ONLINE, ReplicaAction.REFRESH),
        (ONLINE, OFFLINE, ReplicaAction.STOP),
        (INELIGIBLE, OFFLINE, ReplicaAction.STOP),
        (OFFLINE, STARTED, ReplicaAction.DELETE),
        (STARTED, SUCCESSFUL, ReplicaAction.REMEMBER),
        (STARTED, INELIGIBLE, ReplicaAction.REMEMBER),
        (SUCCESSFUL, NON_EXISTENT, ReplicaAction.FORGET),
    ],
)
def test_what_moves_take(source: ReplicaState, target: ReplicaState, action: ReplicaAction) -> None:
    assert REPLICAS.action(source, target) is action


def test_0_8_0_stops_no_replica_but_to_delete_it() -> None:
    table = generation_of("0.8.0").replica_transitions
    assert table.action(ONLINE, OFFLINE) is ReplicaAction.LEAVE
    assert table.action(OFFLINE, NON_EXISTENT) is ReplicaAction.DELETE_AND_FORGET


def test_an_illegal_move_says_what_would_be_legal() -> None:
    illegal = REPLICAS.action(NEW, STARTED)
    assert str(illegal) == "ReplicaDeletionStarted can be reached from OfflineReplica, not from NewReplica"
    nowhere = generation_of("0.8.0").replica_transitions.action(OFFLINE, STARTED)
    assert str(nowhere) == "ReplicaDeletionStarted can be reached from nowhere, not from OfflineReplica"


@pytest.mark.parametrize(("release", "state"), [("0.8.0", OFFLINE), ("0.8.1", INELIGIBLE), ("3.9", INELIGIBLE)])
def test_what_a_new_controller_takes_an_offline_replica_for(release: str, state: ReplicaState) -> None:
    transitions = generation_of(release).replica_transitions
    assert replica_state_at_startup(transitions, online=False) is state
    assert replica_state_at_startup(transitions, online=True) is ONLINE
