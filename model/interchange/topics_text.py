"""What `kafka-topics --describe` printed, read as values. It corrects nothing, and refuses what is damaged or filtered.

Source: `kafka.admin.TopicCommand` (0.8 to 3.2), `org.apache.kafka.tools.TopicCommand` (3.3 to 4.0). Releases differ in
spaces (`Topic:orders` until 2.1) and in fields: TopicId from 2.8 on, Adding and Removing Replicas from 2.5 on, Elr and
LastKnownElr from 3.7 on, MarkedForDeletion until 2.x. Tabs may have become spaces, as they do on a terminal's screen.
What `kafka-broker-api-versions` prints may stand in the same text: it names live brokers, their addresses and racks.
"""

import re
from dataclasses import dataclass, field

import msgspec

from model.cluster.ids import NO_LEADER
from model.cluster.kafka_generations import KafkaGeneration
from model.controller.topic_names import topic_name_problem
from model.interchange.texts import TextError, ids_in, lines_of, number_in

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
