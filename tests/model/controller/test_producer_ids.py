"""Blocks of producer ids: which comes next, and who gets it."""

from __future__ import annotations

import pytest

from model.controller import Refusal, events_and_commands
from model.controller.events_and_commands import AnswerRequest, ProducerIdRange
from model.controller.steps.cluster_wide import AllocateProducerIds, WriteProducerIds, next_block
from model.znodes.cluster import ProducerIdBlock
from model.znodes.paths import PRODUCER_IDS
from model.zookeeper import Answer, Code, Delete, SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path

FIRST = b'{"version":1,"broker":1,"block_start":"0","block_end":"999"}'
LAST = 2**63 - 1


def block(first: int, last: int) -> bytes:
    return ProducerIdBlock(broker=3, block_start=str(first), block_end=str(last)).to_bytes()


@pytest.mark.parametrize(
    ("newest", "after"),
    [
        (b"", (0, 999)),
        (FIRST, (1000, 1999)),
        (block(5, 5), (6, 1005)),
        (block(0, LAST - 1000), (LAST - 999, LAST)),
    ],
)
def test_blocks_follow_each_other(newest: bytes, after: tuple[int, int]) -> None:
    found = next_block(newest, 1)
    assert isinstance(found, ProducerIdBlock)
    assert (found.broker, found.first_id, found.last_id) == (1, *after)


@pytest.mark.parametrize("newest", [block(0, LAST - 999), b"{", b'{"version":1,"broker":1}'])
def test_there_is_no_next_block(newest: bytes) -> None:
    assert isinstance(next_block(newest, 1), Refusal)


def cluster_of_two() -> VirtualCluster:
    cluster = VirtualCluster()
    cluster.start(0)
    cluster.start(1)
    return cluster


def ask(cluster: VirtualCluster, broker: int = 1, older_by: int = 0) -> AnswerRequest:
    live = cluster.nodes[0].controller.context.live.get(broker)
    epoch = -1 if live is None else live.epoch - older_by
    return cluster.ask(events_and_commands.ProducerIdsRequested, broker=broker, broker_epoch=epoch)


def test_a_broker_is_given_blocks_and_they_are_written_first() -> None:
    cluster = cluster_of_two()
    assert ask(cluster).producer_ids == ProducerIdRange(0, 1000)
    assert cluster.log[-1] == f"set {PRODUCER_IDS} v1 {FIRST.decode()}"
    assert ask(cluster, broker=0).producer_ids == ProducerIdRange(1000, 1000)
    assert [write.version for write in by_path(cluster.log)[PRODUCER_IDS]] == [0, 1, 2]


def test_only_a_broker_in_its_present_life_gets_any() -> None:
    cluster = cluster_of_two()
    assert ask(cluster, broker=7).error == "BROKER_ID_NOT_REGISTERED"
    assert ask(cluster, older_by=1).error == "STALE_BROKER_EPOCH"
    assert len(by_path(cluster.log)[PRODUCER_IDS]) == 1


def test_an_old_broker_that_takes_a_block_by_itself_is_not_overwritten() -> None:
    """Up to 2.8 brokers wrote the znode: our write names the version that was read, and begins anew."""
    cluster = cluster_of_two()
    live = cluster.nodes[0].controller.context.live[1]
    cluster.tell(0, events_and_commands.ProducerIdsRequested(request=77, broker=1, broker_epoch=live.epoch))
    cluster.patience = 1
    cluster.settle()
    cluster.patience = -1
    cluster.write(SetData(PRODUCER_IDS, block(0, 999)))
    assert cluster.answers[77].producer_ids == ProducerIdRange(1000, 1000)


def test_without_the_znode_nobody_knows_what_was_given_out() -> None:
    cluster = cluster_of_two()
    cluster.write(Delete(PRODUCER_IDS))
    assert ask(cluster).error == "UNKNOWN_SERVER_ERROR"
    assert cluster.reasons[-1] == "Broker 1 gets no producer ids: /latest_producer_id_block cannot be read."


@pytest.mark.parametrize(
    ("code", "then"), [(Code.BAD_VERSION, True), (Code.NO_NODE, False), (Code.SESSION_EXPIRED, False)]
)
def test_a_block_that_cannot_be_written_is_not_given_out(code: Code, then: bool) -> None:
    cluster = cluster_of_two()
    by = AllocateProducerIds(request=7, broker=1, broker_epoch=0)
    step = WriteProducerIds(by, ProducerIdBlock(broker=1, block_start="0", block_end="999"), 3)
    found = step.resume(cluster.nodes[0].controller.context, (Answer(code), Answer(Code.NO_NODE)))
    if then:
        assert (found.then, found.commands) == ((by,), ())
    else:
        assert found.why == "Broker 1 gets no producer ids: /latest_producer_id_block cannot be written."
        assert found.commands == (AnswerRequest(7, "UNKNOWN_SERVER_ERROR"),)
