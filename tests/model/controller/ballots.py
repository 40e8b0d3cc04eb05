"""Partitions that need a leader, written shortly, and drawn at random over few brokers so that everything meets."""

from hypothesis import strategies as st

from model.cluster.ids import NO_LEADER
from model.controller.elections import Ballot, Liveness
from model.controller.leader_and_isr import UNLED, LeaderAndIsr, ReplicaAssignment

BROKERS = frozenset(range(1, 6))


def ballot(
    assigned: list[int],
    isr: list[int],
    live: set[int],
    *,
    leader: int = NO_LEADER,
    epoch: int = 0,
    target: list[int] | None = None,
    shutting: set[int] | None = None,
    offline: set[int] | None = None,
    unclean: bool = False,
    recovering: bool = False,
) -> Ballot:
    """A partition with a state; `target` is where a reassignment shall lead it."""
    assignment = ReplicaAssignment(tuple(assigned))
    return Ballot(
        LeaderAndIsr(leader, epoch, tuple(isr), recovering, partition_epoch=7),
        assignment if target is None else assignment.reassign_to(target),
        Liveness(frozenset(live), frozenset(shutting or ()), frozenset(offline or ())),
        unclean,
    )


def new_partition(assigned: list[int], live: set[int]) -> Ballot:
    """A partition without a state."""
    return Ballot(UNLED, ReplicaAssignment(tuple(assigned)), Liveness(frozenset(live)))


broker_ids = st.sampled_from(sorted(BROKERS))
replica_lists = st.lists(broker_ids, min_size=1, max_size=4, unique=True)
broker_sets = st.frozensets(broker_ids)
assignments = st.builds(
    lambda origin, target: origin if target is None else origin.reassign_to(target),
    st.builds(ReplicaAssignment, replica_lists.map(tuple)),
    st.none() | replica_lists,
)


@st.composite
def ballots(draw: st.DrawFn, *, outsiders: bool = False) -> Ballot:
    """Any partition with a state; with `outsiders`, brokers may be in the ISR that have no replica."""
    assignment = draw(assignments)
    members = sorted(BROKERS) if outsiders else assignment.replicas
    isr = tuple(draw(st.lists(st.sampled_from(members), unique=True)))
    live = draw(broker_sets)
    return Ballot(
        LeaderAndIsr(draw(st.sampled_from((NO_LEADER, *isr))), draw(st.integers(0, 9)), isr, draw(st.booleans())),
        assignment,
        Liveness(live, draw(broker_sets) & live, draw(broker_sets)),
        draw(st.booleans()),
    )
