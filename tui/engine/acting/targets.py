"""What a request is about, held against the cluster as it is now: topics, partitions, where their logs begin and end.

Brokers are asked for what a SOURCE does not tell, over a connection that only asks.
"""

import base64
import contextlib
import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from model.actions.groups import Landing, LogOffsets, landing
from model.actions.partitions import grow_topic
from model.actions.proposal import ActionRefused, Basis, Proposal
from model.actions.reset import Reset
from model.actions.topics import NewTopic, create_topic
from model.broker.settings.dynamic_configs import said_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.cluster.image_parts import GroupImage
from model.controller.placement import RackMode
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.admin_writes import AdminWriter
from model.hosts.client_security.tls import kafka_options
from model.hosts.kafka_client.kafka_client import EARLIEST, LATEST
from model.sources.addresses import KAFKA_SCHEME, parse_kafka_address
from tui.engine.opening import Opening
from tui.engine.requests import AddPartitions, CreateTopic, ResetOffsets


def brokers_of(opening: Opening) -> str:
    """`host:port[,…]` of the brokers that an opening names; empty where it names none."""
    if opening.bootstrap or not opening.source.startswith(KAFKA_SCHEME):
        return opening.bootstrap
    return parse_kafka_address(opening.source).bootstrap


def brokers_seen(image: ClusterImage) -> str:
    """`host:port[,…]` as brokers registered themselves, each with its first endpoint."""
    endpoints = [broker.endpoints[0] for broker in image.brokers.values() if broker.endpoints]
    return ",".join(endpoint.partition("://")[2] for endpoint in endpoints)


@contextlib.contextmanager
def asking(opening: Opening, brokers: str) -> Iterator[AdminReads]:
    """Connected as long as the context lasts. Raises ActionRefused, UnansweredError, SecurityError."""
    if not brokers:
        raise ActionRefused("no broker is known to ask: name some with --bootstrap")
    admin = AdminWriter(brokers, kafka_options(opening.login.kafka))
    try:
        yield admin.reads
    finally:
        admin.close()


def creation(basis: Basis, request: CreateTopic) -> Proposal:
    """The topic with its replicas placed. Raises ActionRefused with Kafka's reason."""
    if request.if_not_exists and request.topic in basis.image.topics:
        return Proposal(f"topic {request.topic} exists already", ())
    wanted = NewTopic(
        name=request.topic,
        partitions=request.partitions,
        replication_factor=request.replication_factor,
        assignment=dict(enumerate(request.assignment)),
        configs=request.configs,
        rack_mode=_racks(ignored=request.ignores_racks),
        topic_id=_new_topic_id(),
    )
    found = create_topic(basis, wanted, random.randrange)
    return msgspec.structs.replace(found, warnings=(*said_of("topics", request.configs).remarks, *found.warnings))


def growth(basis: Basis, request: AddPartitions, names: Sequence[str]) -> Proposal:
    """More partitions of the one topic in `names`. Raises ActionRefused."""
    if len(names) > 1:
        raise ActionRefused(f"--topic {request.topic!r} fits {len(names)} topics: change one after the other")
    (name,) = names
    given = request.assignment[len(basis.topic(name)) :] if request.assignment else None
    return grow_topic(basis, name, request.partitions, given, _racks(ignored=request.ignores_racks))


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """Names in order, of all topics where None is wanted. Raises ActionRefused where nothing fits, unless `if_exists`.

    Source: `org.apache.kafka.server.util.TopicFilter.IncludeList` (3.9), `kafka.consumer.Whitelist` (0.8).
    """
    known = sorted(name for name in image.topics if not (exclude_internal and name in INTERNAL_TOPICS))
    if wanted is None:
        return known
    found = _fitting(known, wanted)
    if not found and not if_exists:
        raise ActionRefused(f"topic {wanted!r} does not exist")
    return found


def _fitting(names: Sequence[str], wanted: str) -> list[str]:
    expression = wanted.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise ActionRefused(f"--topic {wanted!r} is no regular expression: {error}") from None
    return [name for name in names if pattern.fullmatch(name)]


def _racks(*, ignored: bool) -> RackMode:
    return RackMode.DISABLED if ignored else RackMode.ENFORCED


def _new_topic_id() -> str:
    """As `org.apache.kafka.common.Uuid.randomUuid` (3.9): none that begins with a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text


UNKNOWN = LogOffsets(0, 2**63 - 1)
"""Of a log that nobody can be asked about."""


def landing_of(request: ResetOffsets, image: ClusterImage, opening: Opening) -> Landing:
    """What each partition's offset becomes. Raises ActionRefused, UnansweredError, ValueError for a login."""
    group = image.group(request.group)
    if group is None:
        raise ActionRefused(f"group {request.group!r} does not exist")
    listed = None if request.listed is None else dict(request.listed)
    partitions = list(listed) if listed is not None else _chosen(image, group, request.topics)
    logs = _logs(opening, image, partitions, request.reset)
    return landing(request.reset, group.offsets, logs) if listed is None else _each(listed, group, logs)


def _chosen(image: ClusterImage, group: GroupImage, topics: Sequence[str]) -> list[TopicPartition]:
    """Those named; without names all that the group has committed."""
    if not topics:
        return sorted(group.offsets)
    chosen: list[TopicPartition] = []
    for each in topics:
        name, _, numbers = each.partition(":")
        topic = image.topics.get(name)
        if topic is None:
            raise ActionRefused(f"topic {name!r} does not exist")
        try:
            wanted = [int(number) for number in numbers.split(",")] if numbers else topic.partitions.tolist()
        except ValueError:
            raise ActionRefused(f"--topic {each!r}: write it as orders:0,1") from None
        missing = [number for number in wanted if number not in topic.row_of]
        if missing:
            raise ActionRefused(f"partition {name}-{missing[0]} does not exist")
        chosen += [TopicPartition(name, number) for number in wanted]
    return list(dict.fromkeys(chosen))


def _logs(
    opening: Opening, image: ClusterImage, partitions: Sequence[TopicPartition], reset: Reset
) -> dict[TopicPartition, LogOffsets]:
    if not partitions:
        raise ActionRefused("there is no partition to reset: the group has committed nothing")
    if image.generation == "0.8":
        if reset.target not in ("to-offset", "shift-by"):
            raise ActionRefused("brokers of 0.8 cannot be asked where logs begin and end: take --to-offset N")
        return dict.fromkeys(partitions, UNKNOWN)
    with asking(opening, brokers_of(opening) or brokers_seen(image)) as reads:
        starts, ends = reads.log_offsets(partitions, EARLIEST), reads.log_offsets(partitions, LATEST)
        found = reads.log_offsets(partitions, reset.number) if reset.target == "to-time" else {}
    return {each: LogOffsets(starts[each], ends[each], found.get(each)) for each in partitions}


def _each(
    listed: Mapping[TopicPartition, int], group: GroupImage, logs: Mapping[TopicPartition, LogOffsets]
) -> Landing:
    """An offset of its own each."""
    landings = [
        landing(Reset("to-offset", offset), group.offsets, {each: logs[each]}) for each, offset in listed.items()
    ]
    remarks = tuple(remark for each in landings for remark in each.remarks)
    return Landing({each: offset for one in landings for each, offset in one.offsets.items()}, remarks)
