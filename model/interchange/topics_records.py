"""A text of `kafka-topics --describe` as records, for an image. What it cannot know is said, and nothing made up.

Brokers are those that the text lists; where it lists none, those that lead a partition or are in sync with its leader,
for these live. One that is named otherwise only is taken for dead. Epochs are not told: they are 0 here, for a drill
has to count from somewhere.
"""

from collections.abc import Iterator

from model.cluster import records as r
from model.cluster.ids import NO_LEADER
from model.interchange.topics_text import BrokerText, ClusterText, TopicText

_NEVER_TOLD = ("/controller", "/controller_epoch", "/consumers", "/brokers/topics/*/partitions/*/state")
_BROKERS = "/brokers/ids/*"
"""Not the folder itself: who lives is not known for sure, and yet taken for known."""


def records_of_text(text: ClusterText) -> Iterator[r.Record]:
    """All that a text tells, in an order that can be replayed."""
    yield r.GenerationRecognised(generation=text.generation)
    for broker in text.brokers or _at_work(text.topics):
        yield r.BrokerRegistered(broker=broker.id, endpoints=_endpoints(broker), rack=broker.rack)
    for topic in text.topics:
        yield from _topic(topic)
    for path in _NEVER_TOLD if text.brokers else (*_NEVER_TOLD, _BROKERS):
        yield r.ZnodeUnreadable(path=path, reason=r.UNTOLD)


def _at_work(topics: tuple[TopicText, ...]) -> Iterator[BrokerText]:
    led = [partition for topic in topics for partition in topic.partitions if partition.leader != NO_LEADER]
    for broker in sorted({partition.leader for partition in led}.union(*(partition.isr for partition in led))):
        yield BrokerText(broker, "")


def _endpoints(broker: BrokerText) -> tuple[str, ...]:
    return (f"PLAINTEXT://{broker.address}",) if ":" in broker.address else ()


def _topic(topic: TopicText) -> Iterator[r.Record]:
    yield r.ConfigChanged(entity=f"topics/{topic.name}", config=topic.config)
    yield r.TopicAssigned(
        topic=topic.name,
        replicas={partition.number: partition.replicas for partition in topic.partitions},
        topic_id=topic.topic_id,
        adding={partition.number: partition.adding for partition in topic.partitions if partition.adding},
        removing={partition.number: partition.removing for partition in topic.partitions if partition.removing},
    )
    states = (
        r.PartitionState(
            partition.number,
            partition.leader,
            leader_epoch=0,
            isr=partition.isr,
            elr=partition.elr,
            last_known_elr=partition.last_known_elr,
        )
        for partition in topic.partitions
    )
    yield r.PartitionStatesWritten(topic=topic.name, states=tuple(states))
    if topic.deleting:
        yield r.TopicDeletionRequested(topic=topic.name)
