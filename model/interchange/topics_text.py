"""What `kafka-topics --describe` prints: read as values and as records for an image, and printed as 3.9 does.

It corrects nothing, and refuses what is damaged or filtered. Releases differ in spaces (`Topic:orders` until 2.1) and
in fields: TopicId from 2.8 on, Adding and Removing Replicas from 2.5 on, Elr and LastKnownElr from 3.7 on,
MarkedForDeletion until 2.x. Tabs may have become spaces, as they do on a terminal's screen. What
`kafka-broker-api-versions` prints may stand in the same text: it names live brokers, their addresses and racks.

As records, what a text cannot know is said, and nothing made up. Brokers are those that the text lists; where it lists
none, those that lead a partition or are in sync with its leader, for these live. One that is named otherwise only is
taken for dead. Epochs are not told: they are 0 here, for a drill has to count from somewhere.

Source: `kafka.admin.TopicCommand` (0.8 to 3.2), `org.apache.kafka.tools.TopicCommand` (3.3 to 4.0).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from model.cluster import records as r
from model.cluster.ids import NO_LEADER, KafkaGeneration
from model.cluster.topic_image import Ints, TopicImage, told_in, unpadded
from model.controller.topic_validation import topic_name_problem
from model.interchange.tool_files import TextError, ids_in, lines_of, number_in

LONGEST_NAME = 255
"""Of a topic, until 0.9; later ones are shorter."""

_SIGNS = (b"Topic:", b"T\0o\0p\0i\0c\0:")
"""In UTF-8 and in UTF-16: one of them is in every such text, and found quickly."""
_START = re.compile(r"[ \t]*Topic:")
_PARTITION_START = re.compile(r"[ \t]*Topic: ?\S+\s+Partition:")
_TOPIC = re.compile(
    r"\s*Topic: ?(?P<name>\S+)(?:\s+TopicId: ?(?P<id>\S+))?\s+PartitionCount: ?(?P<count>[0-9]{1,9})"
    r"\s+ReplicationFactor: ?[0-9]+\s+Configs: ?(?P<config>.*)"
)
_DELETING = re.compile(r"\sMarkedForDeletion: ?true$")
_IDS = "[0-9]+(?:,[0-9]+)*"
_OTHERS = r"(?:\s++(?!Adding|Removing|Marked)[A-Z][A-Za-z]*+: ?+\S*+)*+"
"""Elr and LastKnownElr, and what distributions of Kafka add. Nothing is tried twice: a line may be long and hostile."""
_ELRS = tuple(re.compile(rf"\s{name}: ?(?P<ids>N/A|{_IDS}|)(?=\s|$)") for name in ("Elr", "LastKnownElr"))
_PARTITION = re.compile(
    r"\s*Topic: ?(?P<name>\S+)\s+Partition: ?(?P<number>[0-9]+)\s+Leader: ?(?P<leader>none|-1|[0-9]+)"
    rf"\s+Replicas: ?(?P<replicas>{_IDS})\s+Isr: ?(?P<isr>{_IDS}|)"
    rf"{_OTHERS}(?:\s+MarkedForDeletion: ?true)?"
    rf"(?:\s+Adding Replicas: ?(?P<adding>{_IDS}|)\s+Removing Replicas: ?(?P<removing>{_IDS}|))?"
    rf"{_OTHERS}\s*"
)
_BETWEEN_SETTINGS = re.compile(r",(?=[a-z][a-zA-Z0-9._-]*=)")
"""Values may hold commas: `cleanup.policy=compact,delete,retention.ms=1`."""
_BROKER = re.compile(r"(?P<address>\S+) \(id: (?P<id>[0-9]+) rack: (?P<rack>.*?)(?: isFenced: \w+)?\)(?: -> .*)?\s*")
_FAILURE = "Error while executing topic command"
_FILTERED = "give all that kafka-topics --describe prints, without --under-replicated-partitions and the like"


class PartitionText(msgspec.Struct, frozen=True, gc=False):
    """A partition's line; `leader` is NO_LEADER where it has none."""

    number: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] | None = None
    """None where the tool did not know, or print it."""
    last_known_elr: tuple[int, ...] | None = None


class TopicText(msgspec.Struct, frozen=True):
    """A topic's line and those of its partitions. From 2.2 on `config` also has what brokers were started with."""

    name: str
    partitions: tuple[PartitionText, ...]
    topic_id: str | None = None
    config: dict[str, str] = {}
    deleting: bool = False


class BrokerText(msgspec.Struct, frozen=True):
    """A live broker; `address` is host:port as the tool reached it."""

    id: int
    address: str
    rack: str | None = None


class ClusterText(msgspec.Struct, frozen=True):
    """All of a text. `brokers` is empty where no tool listed them; `generation` is a guess."""

    topics: tuple[TopicText, ...]
    brokers: tuple[BrokerText, ...]
    generation: KafkaGeneration


def is_topics_text(data: bytes) -> bool:
    """Whether this looks like output of `kafka-topics --describe`, whole or not: some line of it begins so."""
    seems = any(sign in data for sign in _SIGNS) and not data.startswith(b"{")
    return seems and any(_START.match(line) for _, line in lines_of(data))


def read_topics_text(data: bytes) -> ClusterText:
    """The cluster that the text tells of. Raises TextError, which names the line."""
    reading = _Reading()
    number, line = 1, ""
    for number, line in lines_of(data):
        if line.startswith(_FAILURE):
            raise TextError(number, f"Kafka's tool failed: {line.removeprefix(_FAILURE).strip(' :')[:200]}")
        if _PARTITION_START.match(line):
            reading.take_partition(number, line)
        elif _START.match(line):
            reading.take_topic(number, line)
        elif found := _BROKER.fullmatch(line):
            reading.take_broker(number, found)
    if line.strip():
        raise TextError(number, "the text ends within this line: is it cut off? A whole one ends with a new line")
    reading.end_topic()
    if not reading.topics:
        raise TextError(1, f"no topic is described here: {_FILTERED}")
    return ClusterText(tuple(reading.topics.values()), tuple(reading.brokers.values()), reading.generation)


@dataclass
class _Reading:
    """What was read so far; `topic` is the one whose partitions come."""

    topics: dict[str, TopicText] = field(default_factory=dict[str, TopicText])
    brokers: dict[int, BrokerText] = field(default_factory=dict[int, BrokerText])
    generation: KafkaGeneration = "0.9-1.x"
    topic: TopicText | None = None
    line: int = 0
    expected: int = 0
    partitions: dict[int, PartitionText] = field(default_factory=dict[int, PartitionText])

    def take_topic(self, number: int, line: str) -> None:
        self.end_topic()
        found = _TOPIC.fullmatch(line)
        if found is None:
            raise TextError(number, "no topic's line of kafka-topics --describe: is it cut off?")
        name = found["name"]
        if problem := topic_name_problem(name, LONGEST_NAME):
            raise TextError(number, problem.message)
        if name in self.topics:
            raise TextError(number, f"topic {name} is described twice")
        config = found["config"].rstrip()
        deleting = _DELETING.search(config)
        config = _settings(number, config[: deleting.start()].rstrip() if deleting else config)
        self.topic = TopicText(name, (), found["id"], config, deleting is not None)
        self.line, self.expected, self.partitions = number, int(found["count"]), {}
        if line.lstrip().startswith("Topic: "):
            self.generation = "2.x" if found["id"] is None else "3.x"

    def take_partition(self, number: int, line: str) -> None:
        found = _PARTITION.fullmatch(line)
        if found is None:
            raise TextError(number, "no partition's line of kafka-topics --describe: is it cut off?")
        if self.topic is None or found["name"] != self.topic.name:
            raise TextError(number, f"a partition of {found['name'][:250]} without the line of its topic: {_FILTERED}")
        partition = number_in(number, found["number"])
        if partition in self.partitions:
            raise TextError(number, f"partition {partition} of {self.topic.name} is described twice")
        elr, last_known_elr = (_told_ids(number, each.search(line)) for each in _ELRS)
        self.partitions[partition] = PartitionText(
            number=partition,
            leader=NO_LEADER if found["leader"] in ("none", "-1") else number_in(number, found["leader"]),
            replicas=ids_in(number, found["replicas"]),
            isr=ids_in(number, found["isr"]),
            adding=ids_in(number, found["adding"] or ""),
            removing=ids_in(number, found["removing"] or ""),
            elr=elr,
            last_known_elr=last_known_elr,
        )

    def take_broker(self, number: int, found: re.Match[str]) -> None:
        broker, rack = number_in(number, found["id"]), found["rack"]
        if broker in self.brokers:
            raise TextError(number, f"broker {broker} is listed twice")
        self.brokers[broker] = BrokerText(broker, found["address"], None if rack in ("null", "") else rack)

    def end_topic(self) -> None:
        topic, count = self.topic, len(self.partitions)
        if topic is None:
            return
        if count != self.expected:
            raise TextError(
                self.line, f"topic {topic.name} has {self.expected:,} partitions, and {count:,} follow: {_FILTERED}"
            )
        self.topics[topic.name] = msgspec.structs.replace(topic, partitions=tuple(self.partitions.values()))


def _told_ids(number: int, found: re.Match[str] | None) -> tuple[int, ...] | None:
    return None if found is None or found["ids"] == "N/A" else ids_in(number, found["ids"])


def _settings(number: int, text: str) -> dict[str, str]:
    pairs = [word.partition("=") for word in _BETWEEN_SETTINGS.split(text)] if text else []
    if any(not sign for _, sign, _ in pairs):
        raise TextError(number, f"{text[:60]!r} are no settings, which are written as name=value,name=value")
    return {name.strip(): value for name, _, value in pairs}


_NEVER_TOLD = ("/controller", "/controller_epoch", "/consumers", "/brokers/topics/*/partitions/*/state")
_BROKERS = "/brokers/ids/*"
"""Not the folder itself: who lives is not known for sure, and yet taken for known."""


def records_of_text(text: ClusterText) -> Iterator[r.ClusterRecord]:
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


def _topic(topic: TopicText) -> Iterator[r.ClusterRecord]:
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


_MARK = "\tMarkedForDeletion: true"


def topic_line(topic: TopicImage, config: Mapping[str, str], *, deleting: bool = False) -> str:
    """A topic, with its own settings. The replication factor is that of its first partition, additions not counted."""
    cells = [f"Topic: {topic.name}"]
    if topic.topic_id is not None:
        cells.append(f"TopicId: {topic.topic_id}")
    cells.append(f"PartitionCount: {len(topic)}")
    cells.append(f"ReplicationFactor: {_replication_factor(topic) if len(topic) else 0}")
    cells.append(f"Configs: {','.join(f'{name}={value}' for name, value in config.items())}")
    return "\t".join(cells) + (_MARK if deleting else "")


def partition_line(topic: TopicImage, row: int, *, deleting: bool = False) -> str:
    """One partition, by its row in the image."""
    number, leader = int(topic.partitions[row]), int(topic.leader[row])
    adding, removing = topic.adding.get(number, ()), topic.removing.get(number, ())
    line = (
        f"\tTopic: {topic.name}\tPartition: {number}\tLeader: {leader if leader >= 0 else 'none'}"
        f"\tReplicas: {_ids(unpadded(topic.replicas[row]))}\tIsr: {_ids(unpadded(topic.isr[row]))}"
    )
    moving = f"\tAdding Replicas: {_ids(adding)}\tRemoving Replicas: {_ids(removing)}" if adding or removing else ""
    eligible = f"{_told('Elr', topic.elr[row])}{_told('LastKnownElr', topic.last_known_elr[row])}"
    return f"{line}{_MARK if deleting else ''}{moving}{eligible}"


def _told(name: str, brokers: Ints) -> str:
    told = told_in(brokers)
    return f"\t{name}: {'N/A' if told is None else _ids(told)}"


def _replication_factor(topic: TopicImage) -> int:
    adding = topic.adding.get(int(topic.partitions[0]), ())
    return sum(broker not in adding for broker in unpadded(topic.replicas[0]))


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
