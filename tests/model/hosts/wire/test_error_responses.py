"""Error responses worked out by hand; `tests/conformance/test_error_answers.py` compares all with Kafka's classes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.wire.error_responses import MESSAGE, error_response
from model.hosts.wire.messages import RequestStart, shapes
from model.hosts.wire.names import ApiKey

FAILED = ErrorCode.unknown_server_error
SOON = timedelta(seconds=30)


def told(key: int, version: int, request: Any) -> Any:
    return error_response(RequestStart(key, version, 1), request)


def produce(acks: int) -> Any:
    module: Any = shapes(ApiKey.PRODUCE, 2, "request")
    topics = (
        module.TopicProduceData(
            name="orders", partition_data=tuple(module.PartitionProduceData(index=n, records=b"") for n in (0, 3))
        ),
        module.TopicProduceData(name="empty", partition_data=()),
    )
    return module.ProduceRequest(acks=acks, timeout=SOON, topic_data=topics)


@pytest.mark.parametrize("acks", [1, -1])
def test_a_produce_hears_it_of_each_partition(acks: int) -> None:
    (topic,) = told(ApiKey.PRODUCE, 2, produce(acks)).responses
    partitions = [(each.index, each.error_code, each.base_offset) for each in topic.partition_responses]
    assert (topic.name, partitions) == ("orders", [(0, FAILED, -1), (3, FAILED, -1)])


def test_who_wants_no_answer_gets_none() -> None:
    assert told(ApiKey.PRODUCE, 2, produce(0)) is None


@pytest.mark.parametrize(("version", "names"), [(12, ["orders"]), (13, [])])
def test_a_fetch_hears_it_of_partitions_while_topics_have_names(version: int, names: list[str]) -> None:
    module: Any = shapes(ApiKey.FETCH, version, "request")
    named = {"topic": "orders"} if version < 13 else {"topic_id": None}
    partition = module.FetchPartition(partition=7, fetch_offset=5, partition_max_bytes=100)
    request = module.FetchRequest(
        max_wait=SOON,
        min_bytes=0,
        session_id=9,
        topics=(module.FetchTopic(**named, partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    answer = told(ApiKey.FETCH, version, request)
    assert (answer.error_code, answer.session_id) == (FAILED, 9)
    assert [each.topic for each in answer.responses] == names
    partitions = [each for topic in answer.responses for each in topic.partitions]
    assert [(each.partition_index, each.error_code, each.high_watermark) for each in partitions] == [
        (7, FAILED, -1)
    ] * len(names)


def test_a_controller_hears_it_of_each_partition() -> None:
    module: Any = shapes(ApiKey.STOP_REPLICA, 2, "request")
    request = module.StopReplicaRequest(
        controller_id=1,
        controller_epoch=1,
        broker_epoch=1,
        delete_partitions=False,
        topics=(module.StopReplicaTopicV1(name="orders", partition_indexes=(1, 2)),),
    )
    answer = told(ApiKey.STOP_REPLICA, 2, request)
    assert answer.error_code == FAILED
    errors = [(each.topic_name, each.partition_index, each.error_code) for each in answer.partition_errors]
    assert errors == [("orders", 1, FAILED), ("orders", 2, FAILED)]


def test_who_looks_for_a_coordinator_is_told_in_words() -> None:
    module: Any = shapes(ApiKey.FIND_COORDINATOR, 4, "request")
    answer = told(ApiKey.FIND_COORDINATOR, 4, module.FindCoordinatorRequest(key_type=0, coordinator_keys=("a", "b")))
    found = [(each.key, each.node_id, each.error_code, each.error_message) for each in answer.coordinators]
    assert found == [("a", -1, FAILED, MESSAGE), ("b", -1, FAILED, MESSAGE)]


def test_a_members_name_is_not_repeated() -> None:
    module: Any = shapes(ApiKey.JOIN_GROUP, 0, "request")
    request = module.JoinGroupRequest(
        group_id="g", session_timeout=SOON, member_id="m", protocol_type="consumer", protocols=()
    )
    answer = told(ApiKey.JOIN_GROUP, 0, request)
    assert (answer.error_code, answer.generation_id, answer.member_id, answer.members) == (FAILED, -1, "", ())
