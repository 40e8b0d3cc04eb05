"""What is asked of topics, held against the cluster as it is now: which ones are meant, and what it takes."""

import base64
import random
import re
import uuid
from collections.abc import Sequence

import msgspec

from model.actions.basis import Basis
from model.actions.partitions import grow_topic
from model.actions.proposal import ActionRefused, Proposal
from model.actions.topics import NewTopic, create_topic
from model.broker.settings.wanted import said_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import INTERNAL_TOPICS
from model.controller.placement import RackMode
from tui.data.acting.requests import AddPartitions, CreateTopic


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
