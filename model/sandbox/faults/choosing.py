"""Which broker is meant by its id or by the part it plays now."""

import re

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.metadata import NOBODY, Metadata, PartitionPlace
from model.hosts.wire.errors import WireError
from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.errors import SandboxError
from model.sandbox.faults.faults import BrokerChoice

CONTROLLER = "controller"
WAYS = f"give an id, {CONTROLLER}, leader of TOPIC-N, or follower of TOPIC-N"
ANSWER_TIMEOUT_S = 5.0
_PART = re.compile(r"(leader|follower) of (\S+)-(\d+)")


async def chosen_broker(cluster: SandboxCluster, choice: BrokerChoice) -> int:
    """The broker's id. Raises SandboxError: there is no such broker, or nobody plays that part."""
    text = str(choice).strip().removeprefix("broker-")
    if text.isdigit():
        if int(text) not in cluster.brokers:
            raise SandboxError(f"there is no broker {text}: they are {min(cluster.brokers)} to {max(cluster.brokers)}")
        return int(text)
    if text != CONTROLLER and not _PART.fullmatch(text):
        raise SandboxError(
            f"{text!r} is no broker: give an id, {CONTROLLER}, or: leader of TOPIC-N, follower of TOPIC-N"
        )
    broker = _playing(await _metadata(cluster), text)
    if broker not in cluster.brokers:
        raise SandboxError(f"there is no {text} now")
    return broker


def _playing(metadata: Metadata, part: str) -> int:
    if part == CONTROLLER:
        return metadata.controller
    found = _PART.fullmatch(part)
    assert found is not None
    role, topic, number = found.groups()
    place = metadata.partitions.get(TopicPartition(topic, int(number)), PartitionPlace(NOBODY, (), ()))
    if role == "leader":
        return place.leader
    return next((broker for broker in place.isr if broker != place.leader), NOBODY)


async def _metadata(cluster: SandboxCluster) -> Metadata:
    client = cluster.client(timeout_s=ANSWER_TIMEOUT_S)
    try:
        return await client.refresh()
    except WireError as error:
        raise SandboxError(str(error)) from error
    finally:
        await client.close()
