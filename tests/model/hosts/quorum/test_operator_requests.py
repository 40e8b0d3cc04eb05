"""One controller as a process, asked directly: what an operator may ask for without any broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest_asyncio

from model.hosts.kafka_descriptions import describe_quorum
from model.hosts.quorum.active_controller import SUPPORTED
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import decode_response, encode_request
from model.hosts.wire.names import error_name, topic_uuid
from tests.harness.kafka import free_ports
from tests.harness.quorum_voters import CLUSTER_ID, Reader, VoterProcess, directory_id, voter_processes

DESCRIBE_CONFIGS = 32
CREATE_TOPICS, DESCRIBE_ACLS, CREATE_ACLS, DELETE_ACLS, ALTER_CONFIGS, CREATE_PARTITIONS = 19, 29, 30, 31, 33, 37
INCREMENTAL, REASSIGN, LIST_REASSIGNED, QUOTAS, SCRAM, FEATURES, CLUSTER, UNREGISTER = 44, 45, 46, 49, 51, 57, 60, 64
DELETE_TOPICS, REGISTER, HEARTBEAT, ENVELOPE, REGISTRATION, REMOVE_VOTER = 20, 62, 63, 58, 70, 81
TIMEOUT = timedelta(seconds=5)


@pytest_asyncio.fixture
async def controller(tmp_path: Path) -> AsyncIterator[Connection]:
    """The only voter, and so the active one."""
    (voter,) = voter_processes(tmp_path, {1: next(free_ports())}, 1).values()
    voter.start()
    await Reader({1: voter.address}).read_more(3)
    connection = await Connection.open(*voter.address, "operator", 5.0)
    yield connection
    await connection.close()
    voter.kill()
    assert "Traceback" not in voter.log


def built(shapes: Any, shape: str, /, **values: object) -> Any:
    return getattr(shapes, shape)(**values)


async def ask(controller: Connection, key: int, name: str, /, **values: object) -> Any:
    return await controller.ask(built(controller.request_shapes(key), name, **values), 5.0)


async def test_rules_of_access(controller: Connection) -> None:
    shapes = controller.request_shapes(CREATE_ACLS)
    rules = [
        built(shapes, "AclCreation", resource_type=kind, resource_name="t", resource_pattern_type=3,
              principal="User:a", host="*", operation=operation, permission_type=3)
        for kind, operation in ((2, 3), (2, 4), (0, 3))
    ]  # fmt: skip
    answer = await ask(controller, CREATE_ACLS, "CreateAclsRequest", creations=tuple(rules))
    assert [error_name(each.error_code) for each in answer.results] == ["NONE", "NONE", "INVALID_REQUEST"]
    every = {"resource_type_filter": 2, "resource_name_filter": None, "pattern_type_filter": 1,
             "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}  # fmt: skip
    told = await ask(controller, DESCRIBE_ACLS, "DescribeAclsRequest", **every)
    assert [(each.resource_name, [rule.operation for rule in each.acls]) for each in told.resources] == [("t", [3, 4])]
    wanted = built(controller.request_shapes(DELETE_ACLS), "DeleteAclsFilter", **{**every, "operation": 3})
    gone = await ask(controller, DELETE_ACLS, "DeleteAclsRequest", filters=(wanted,))
    assert [each.operation for each in gone.filter_results[0].matching_acls] == [3]
    left = await ask(controller, DESCRIBE_ACLS, "DescribeAclsRequest", **every)
    assert [rule.operation for rule in left.resources[0].acls] == [4]


async def test_quotas_and_credentials(controller: Connection) -> None:
    shapes = controller.request_shapes(QUOTAS)
    alice = (built(shapes, "EntityData", entity_type="user", entity_name="alice"),)

    async def set_quota(key: str, value: float) -> str:
        wanted = (built(shapes, "OpData", key=key, value=value, remove=False),)
        entry = built(shapes, "EntryData", entity=alice, ops=wanted)
        answer = await ask(controller, QUOTAS, "AlterClientQuotasRequest", entries=(entry,), validate_only=False)
        assert answer.entries[0].entity[0].entity_name == "alice"
        return error_name(answer.entries[0].error_code)

    assert (await set_quota("producer_byte_rate", 5.0), await set_quota("none", 5.0)) == ("NONE", "INVALID_REQUEST")
    shapes = controller.request_shapes(SCRAM)
    bob = {"name": "bob", "mechanism": 1}
    new = built(shapes, "ScramCredentialUpsertion", **bob, iterations=4096, salt=b"s", salted_password=b"p")
    old = built(shapes, "ScramCredentialDeletion", **bob)

    async def told(deletions: tuple[Any, ...], upsertions: tuple[Any, ...]) -> list[str]:
        answer = await ask(
            controller, SCRAM, "AlterUserScramCredentialsRequest", deletions=deletions, upsertions=upsertions
        )
        return [error_name(each.error_code) for each in answer.results]

    assert await told((old,), ()) == ["RESOURCE_NOT_FOUND"]
    assert await told((), (new,)) == await told((old,), ()) == ["NONE"]


async def test_settings_of_brokers(controller: Connection) -> None:
    shapes = controller.request_shapes(INCREMENTAL)

    async def change(name: str, operation: int, value: str | None, kind: int = 4) -> tuple[str, str | None]:
        setting = built(shapes, "AlterableConfig", name=name, config_operation=operation, value=value)
        resource = built(shapes, "AlterConfigsResource", resource_type=kind, resource_name="", configs=(setting,))
        answer = await ask(
            controller, INCREMENTAL, "IncrementalAlterConfigsRequest", resources=(resource,), validate_only=False
        )
        return error_name(answer.responses[0].error_code), answer.responses[0].error_message

    assert await change("log.retention.ms", 0, "5") == ("NONE", None)
    error, why = await change("log.retention.ms", 0, "x")
    assert (error, "log.retention.ms" in (why or "")) == ("INVALID_CONFIG", True)
    assert (await change("log.retention.ms", 2, "6"))[0] == "INVALID_CONFIG"
    assert (await change("min.insync.replicas", 1, None))[0] == "NONE"
    asked = controller.request_shapes(DESCRIBE_CONFIGS)
    resource = built(asked, "DescribeConfigsResource", resource_type=4, resource_name="", configuration_keys=None)
    options = {"include_synonyms": False, "include_documentation": False}
    answer = await ask(controller, DESCRIBE_CONFIGS, "DescribeConfigsRequest", resources=(resource,), **options)
    assert [(each.name, each.value) for each in answer.results[0].configs] == [("log.retention.ms", "5")]
    assert (await change("retention.ms", 0, "5", 2))[0] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert (await change("a", 0, "5", 9))[0] == "INVALID_REQUEST"
    shapes = controller.request_shapes(ALTER_CONFIGS)
    setting = built(shapes, "AlterableConfig", name="log.retention.bytes", value="7")
    resource = built(shapes, "AlterConfigsResource", resource_type=4, resource_name="", configs=(setting,))
    answer = await ask(controller, ALTER_CONFIGS, "AlterConfigsRequest", resources=(resource,), validate_only=False)
    assert error_name(answer.responses[0].error_code) == "NONE"


async def test_features_and_nodes(controller: Connection) -> None:
    shapes = controller.request_shapes(FEATURES)

    async def update(feature: str, level: int, way: int) -> str:
        key = built(shapes, "FeatureUpdateKey", feature=feature, max_version_level=level, upgrade_type=way)
        values: dict[str, object] = {"timeout": TIMEOUT, "feature_updates": (key,), "validate_only": False}
        answer = await ask(controller, FEATURES, "UpdateFeaturesRequest", **values)
        return error_name(answer.error_code)

    assert await update("eligible.leader.replicas.version", 1, 1) == "NONE"
    assert await update("eligible.leader.replicas.version", 2, 1) == "INVALID_UPDATE_VERSION"
    assert await update("metadata.version", 29, 2) == "INVALID_UPDATE_VERSION"
    assert await update("group.version", 1, 1) == "NONE"
    assert await update("group.version", 0, 1) == "INVALID_UPDATE_VERSION"
    assert await update("group.version", 0, 2) == "NONE"
    about: dict[str, object] = {"controller_id": 8, "incarnation_id": uuid4(), "zk_migration_ready": False}
    await ask(controller, REGISTRATION, "ControllerRegistrationRequest", **about, listeners=(), features=())
    assert await update("group.version", 1, 1) == "INVALID_UPDATE_VERSION", "that controller knows none"
    gone = await ask(controller, UNREGISTER, "UnregisterBrokerRequest", broker_id=7)
    assert error_name(gone.error_code) == "BROKER_ID_NOT_REGISTERED"
    described = await controller.ask(_describe_cluster(controller, 2), 5.0)
    assert (described.controller_id, [each.broker_id for each in described.brokers]) == (1, [1])
    refused = await controller.ask(_describe_cluster(controller, 1), 5.0)
    assert error_name(refused.error_code) == "MISMATCHED_ENDPOINT_TYPE"


def _describe_cluster(controller: Connection, endpoints: int) -> Any:
    shapes = controller.request_shapes(CLUSTER)
    values: dict[str, object] = {"include_cluster_authorized_operations": False, "endpoint_type": endpoints}
    if "include_fenced_brokers" in shapes.DescribeClusterRequest.__dataclass_fields__:
        values["include_fenced_brokers"] = False
    return built(shapes, "DescribeClusterRequest", **values)


async def test_partitions_that_are_not_there(controller: Connection) -> None:
    shapes = controller.request_shapes(CREATE_PARTITIONS)
    more = built(shapes, "CreatePartitionsTopic", name="t", count=3, assignments=None)
    answer = await ask(
        controller, CREATE_PARTITIONS, "CreatePartitionsRequest", topics=(more,), timeout=TIMEOUT, validate_only=False
    )
    assert error_name(answer.results[0].error_code) == "UNKNOWN_TOPIC_OR_PARTITION"
    shapes = controller.request_shapes(REASSIGN)
    moved = built(shapes, "ReassignablePartition", partition_index=0, replicas=(1, 2))
    topic = built(shapes, "ReassignableTopic", name="t", partitions=(moved,))
    answer = await ask(controller, REASSIGN, "AlterPartitionReassignmentsRequest", timeout=TIMEOUT, topics=(topic,))
    assert error_name(answer.responses[0].partitions[0].error_code) == "UNKNOWN_TOPIC_OR_PARTITION"
    listed = await ask(controller, LIST_REASSIGNED, "ListPartitionReassignmentsRequest", timeout=TIMEOUT, topics=None)
    assert listed.topics == ()


async def register(controller: Connection, broker: int) -> None:
    """And unfence it: it has caught up at once."""
    shapes = controller.request_shapes(REGISTER)
    listener = built(shapes, "Listener", name="PLAINTEXT", host="127.0.0.1", port=9, security_protocol=0)
    features = tuple(
        built(shapes, "Feature", name=name, min_supported_version=least, max_supported_version=most)
        for name, (least, most) in SUPPORTED.items()
    )
    about: dict[str, object] = {"broker_id": broker, "cluster_id": CLUSTER_ID, "incarnation_id": uuid4(), "rack": None}
    answer = await ask(
        controller, REGISTER, "BrokerRegistrationRequest", **about, listeners=(listener,), features=features,
        is_migrating_zk_broker=False, log_dirs=(uuid4(),), previous_broker_epoch=-1,
    )  # fmt: skip
    assert error_name(answer.error_code) == "NONE"
    beat: dict[str, object] = {"broker_id": broker, "broker_epoch": answer.broker_epoch, "want_fence": False}
    while True:
        told = await ask(
            controller, HEARTBEAT, "BrokerHeartbeatRequest", **beat, current_metadata_offset=answer.broker_epoch,
            want_shut_down=False, offline_log_dirs=(),
        )  # fmt: skip
        if not told.is_fenced:
            return


async def test_topics_whose_settings_no_topic_can_have_and_what_is_only_validated(controller: Connection) -> None:
    """Worked cases H10 and H16."""
    await register(controller, 7)
    shapes = controller.request_shapes(CREATE_TOPICS)
    settings = (("bad", "retention.ms", "x"), ("new", "retention.ms", "5"), ("null", "retention.ms", None),
                ("odd", "retension.ms", "5"), ("late", "remote.copy.lag.ms", "5"),
                ("__cluster_metadata", "retention.ms", "5"))  # fmt: skip
    topics = tuple(
        built(shapes, "CreatableTopic", name=name, num_partitions=2, replication_factor=1, assignments=(),
              configs=(built(shapes, "CreatableTopicConfig", name=key, value=value),))
        for name, key, value in (*settings, ("twice", "retention.ms", "5"), ("twice", "retention.ms", "6"))
    )  # fmt: skip

    async def create(*, dry: bool) -> dict[str, tuple[str, str | None, int, int]]:
        values: dict[str, object] = {"topics": topics, "timeout": TIMEOUT, "validate_only": dry}
        answer = await ask(controller, CREATE_TOPICS, "CreateTopicsRequest", **values)
        return {
            each.name: (error_name(each.error_code), each.error_message, each.num_partitions, each.replication_factor)
            for each in answer.topics
        }

    would_be = await create(dry=True)
    assert would_be == await create(dry=False), "nothing was made by what only asked"
    assert {name: error for name, (error, *_) in would_be.items()} == {
        "bad": "INVALID_CONFIG", "new": "NONE", "null": "INVALID_CONFIG", "odd": "INVALID_CONFIG", "late": "NONE",
        "twice": "INVALID_REQUEST", "__cluster_metadata": "TOPIC_AUTHORIZATION_FAILED",
    }  # fmt: skip
    assert would_be["new"][1:] == (None, 2, 1)
    assert would_be["odd"][1] == "Unknown topic config name: retension.ms"
    assert (await create(dry=True))["new"][0] == "TOPIC_ALREADY_EXISTS"
    shapes = controller.request_shapes(DELETE_TOPICS)
    gone = tuple(built(shapes, "DeleteTopicState", name=name, topic_id=None) for name in ("new", "new", "late"))
    answer = await ask(controller, DELETE_TOPICS, "DeleteTopicsRequest", topics=gone, timeout=TIMEOUT)
    deleted = [(each.name, error_name(each.error_code)) for each in answer.responses]
    assert deleted == [("new", "INVALID_REQUEST"), ("late", "NONE")], "one that is named twice stays"


async def test_what_a_broker_sends_on_in_a_version_that_is_not_known(controller: Connection) -> None:
    """A broker that has not heard of our versions yet lets its client take its own newest."""
    shapes = controller.request_shapes(UNREGISTER)
    inner = built(shapes, "UnregisterBrokerRequest", broker_id=7)
    frame = b"".join(encode_request(inner, 5, "tool"))
    told: list[tuple[str, bytes | None]] = []
    for version in (0, 9):
        data = frame[:2] + version.to_bytes(2, "big") + frame[4:]
        envelope = controller.request_shapes(ENVELOPE)
        wanted = built(
            envelope, "EnvelopeRequest", request_data=data, request_principal=None, client_host_address=b"\x7f\0\0\1"
        )
        answer: Any = await controller.ask(wanted, 5.0)
        told.append((error_name(answer.error_code), answer.response_data))
    assert [error for error, _ in told] == ["NONE", "UNSUPPORTED_VERSION"]
    assert told[0][1] is not None and told[1][1] is None


async def test_a_broker_sends_changes_of_the_voters_on_too(controller: Connection) -> None:
    """As Kafka's do; the voter answers, and not the controller."""
    removed = built(
        controller.request_shapes(REMOVE_VOTER),
        "RemoveRaftVoterRequest",
        cluster_id=None,
        voter_id=1,
        voter_directory_id=topic_uuid(directory_id(1)),
    )
    error, data = await sent_on(controller, removed)
    assert error == "NONE" and data is not None
    answer: Any = decode_response(data, REMOVE_VOTER, 0)[1]
    assert (error_name(answer.error_code), answer.error_message) == ("VOTER_NOT_FOUND", "it is the only voter")
    assert (await sent_on(controller, describe_quorum(controller)))[0] == "NONE"


async def sent_on(controller: Connection, request: Any) -> tuple[str, bytes | None]:
    """Error and answer, as a broker hears them."""
    wanted = built(
        controller.request_shapes(ENVELOPE),
        "EnvelopeRequest",
        request_data=b"".join(encode_request(request, 5, "tool")),
        request_principal=None,
        client_host_address=b"\x7f\0\0\1",
    )
    answer: Any = await controller.ask(wanted, 5.0)
    return error_name(answer.error_code), answer.response_data


async def test_who_is_not_the_active_controller_says_so_of_all_that_was_asked(tmp_path: Path) -> None:
    ports = dict(enumerate(islice(free_ports(), 2), 1))
    voter: VoterProcess = voter_processes(tmp_path, ports, 1)[1]
    voter.start()
    voter.wait_for("listening on")
    connection = await Connection.open(*voter.address, "operator", 5.0)
    shapes = connection.request_shapes(CREATE_PARTITIONS)
    more = built(shapes, "CreatePartitionsTopic", name="t", count=3, assignments=None)
    answer = await ask(
        connection, CREATE_PARTITIONS, "CreatePartitionsRequest", topics=(more,), timeout=TIMEOUT, validate_only=False
    )
    assert [(each.name, error_name(each.error_code)) for each in answer.results] == [("t", "NOT_CONTROLLER")]
    gone = await ask(connection, UNREGISTER, "UnregisterBrokerRequest", broker_id=7)
    assert error_name(gone.error_code) == "NOT_CONTROLLER"
    assert await sent_on(connection, describe_quorum(connection)) == ("NOT_CONTROLLER", None)
    described = await connection.ask(_describe_cluster(connection, 2), 5.0)
    assert (described.controller_id, [each.broker_id for each in described.brokers]) == (-1, [1, 2]), "tools begin here"
    await connection.close()
    voter.kill()
    assert "Traceback" not in voter.log
