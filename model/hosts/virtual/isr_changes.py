"""How leaders ask for their ISRs to be changed, and what they make of the answers. Pure; nothing is sent here.

Source: `kafka.cluster.Partition.maybeExpandIsr`, `maybeShrinkIsr`, `handleAlterPartitionError` (3.9), KIP-497.
A follower is in sync when it follows this leader in this leader epoch: that takes `Assumptions.catch_up_ms`.
"""

from collections.abc import Callable, Collection, Iterator

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.events import AlterPartitionReceived, ProposedIsr
from model.hosts.virtual.virtual_broker import Replica, VirtualBroker, led

Peers = Callable[[int], VirtualBroker | None]
"""A broker that can be reached now, or None."""

_TO_BE_TRIED_AGAIN = ("NONE", "INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED", "UNKNOWN_SERVER_ERROR")
"""All other errors say that the leader is out of date: it waits for the next LeaderAndIsr."""


def proposals(broker: VirtualBroker, peers: Peers, lagging: Collection[int] = ()) -> tuple[ProposedIsr, ...]:
    """The ISRs that a broker wants for what it leads: without those who lag, else with one follower more each.

    lagging: brokers that have not fetched from this one for replica.lag.time.max.ms.
    """
    shrunk = dict(_shrunk(broker, lagging)) if lagging else {}
    return (*shrunk.values(), *_grown(broker, peers, lagging, shrunk))


def asked(broker: VirtualBroker, wanted: Collection[ProposedIsr]) -> VirtualBroker:
    """The broker once it has asked: one change of a partition at a time."""
    return broker.replace(pending=broker.pending | {proposal.partition for proposal in wanted})


def unanswered(broker: VirtualBroker, request: AlterPartitionReceived) -> VirtualBroker:
    """No answer came, or it refused the request as a whole: all of it is to be asked again."""
    return broker.replace(pending=broker.pending - {proposal.partition for proposal in request.proposals})


def answered(broker: VirtualBroker, request: AlterPartitionReceived, answer: AnswerRequest) -> VirtualBroker:
    """What the controller made of it."""
    if answer.error != "NONE":
        return unanswered(broker, request)
    changes: dict[TopicPartition, Replica | None] = {}
    stuck = set(broker.stuck)
    behind = set(broker.behind)
    for outcome in answer.partitions:
        held = broker.leads(outcome.partition)
        if outcome.error == "NONE" and held is not None and _is_news(held, outcome):
            changes[outcome.partition] = held = msgspec.structs.replace(held, state=outcome.state)
            complete = set(held.assignment.replicas) <= set(held.state.isr)
            (behind.discard if complete else behind.add)(outcome.partition)
        if outcome.error not in _TO_BE_TRIED_AGAIN and outcome.partition in broker.pending:
            stuck.add(outcome.partition)
    replicas = broker.replicas.changed(changes) if changes else broker.replicas
    broker = broker.replace(replicas=replicas, behind=frozenset(behind), stuck=frozenset(stuck))
    return unanswered(broker, request)


def _is_news(held: Replica, outcome: PartitionOutcome) -> bool:
    told = outcome.state
    return (
        told is not None
        and told.leader_epoch == held.state.leader_epoch
        and told.partition_epoch >= held.state.partition_epoch
    )


def _shrunk(broker: VirtualBroker, lagging: Collection[int]) -> Iterator[tuple[TopicPartition, ProposedIsr]]:
    for name, replica in led(broker):
        left = tuple(member for member in replica.state.isr if member == broker.id or member not in lagging)
        if left != replica.state.isr and name not in broker.pending and name not in broker.stuck:
            yield name, _proposal(name, replica, left)


def _grown(
    broker: VirtualBroker, peers: Peers, lagging: Collection[int], besides: Collection[TopicPartition]
) -> Iterator[ProposedIsr]:
    for name in sorted(broker.behind - broker.pending - broker.stuck):
        replica = broker.leads(name)
        if replica is None or name in besides:
            continue
        for follower in replica.assignment.replicas:
            if follower not in lagging and _is_in_sync(broker, replica, name, follower, peers):
                yield _proposal(name, replica, (*replica.state.isr, follower))
                break


def _is_in_sync(broker: VirtualBroker, replica: Replica, name: TopicPartition, follower: int, peers: Peers) -> bool:
    if follower == broker.id or follower in replica.state.isr or follower not in broker.live_brokers:
        return False
    peer = peers(follower)
    theirs = None if peer is None else peer.replicas.get(name)
    return (
        theirs is not None
        and not theirs.stopped
        and theirs.state.leader == broker.id
        and theirs.state.leader_epoch == replica.state.leader_epoch
    )


def _proposal(name: TopicPartition, replica: Replica, isr: tuple[int, ...]) -> ProposedIsr:
    return ProposedIsr(name, replica.state.leader_epoch, replica.state.partition_epoch, isr)
