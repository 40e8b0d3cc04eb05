"""A proposal's requests sent to brokers by their Admin API, and the route of a reassignment through them.

One table has each request, the call that sends it and what its answer says. Each request is sent after its facts were
asked once more: brokers keep no versions. Reassignments: KIP-455; throttles by configuration: KIP-339.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from model.actions import reassignments
from model.actions.proposal import ActionRefused, ApiCall, Step
from model.actions.reassignment import Command, ObservedCluster, PartitionNow, WantedReads
from model.cluster.ids import TopicPartition
from model.hosts.acting.admin_reads import (
    UNTOLD,
    AdminReads,
    Reassigned,
    UnansweredError,
    admin_client,
    asked,
    config_resource,
    library,
    refusal,
)
from model.hosts.acting.carrying_out import WriteOutcome, Writers

Fields = Mapping[str, Any]
Answers = Iterable[tuple[str, int, str | None]]
"""Subject, Kafka's error code, and what it says."""
NOT_NEEDED = 84
"""ELECTION_NOT_NEEDED: somebody else was quicker."""
_SET, _DELETE = "SET", "DELETE"


def send(client: Any, api: str, fields: Fields) -> list[str]:
    """What was refused, a line each. Raises ActionRefused, UnansweredError, and KeyError for an unknown API."""
    return [
        f"{subject}: {refusal(code, message)}"
        for subject, code, message in CALLS[api](client, fields)
        if code not in (0, NOT_NEEDED)
    ]


def _create_topics(client: Any, fields: Fields) -> Answers:
    topics = {name: dict(each) for name, each in fields["topics"].items()}
    for each in topics.values():
        if "assignments" in each:
            each["assignments"] = _numbered(each["assignments"])
    answer = asked(client.create_topics, topics, raise_errors=False)
    return [(each["name"], each["error_code"], each.get("error_message")) for each in answer["topics"]]


def _delete_topics(client: Any, fields: Fields) -> Answers:
    answer = asked(client.delete_topics, list(fields["topics"]), raise_errors=False)
    return [(each["name"], each["error_code"], each.get("error_message")) for each in answer["topics"]]


def _create_partitions(client: Any, fields: Fields) -> Answers:
    answer = asked(client.create_partitions, {**fields["topics"]}, raise_errors=False)
    return [(each.name, each.error_code, each.error_message) for each in answer.results]


def _elect_leaders(client: Any, fields: Fields) -> Answers:
    answer = asked(client.elect_leaders, fields["election_type"], {**fields["partitions"]}, raise_errors=False)
    if getattr(answer, "error_code", 0):
        return [("election", answer.error_code, None)]
    return [
        (f"{topic.topic}-{each.partition_id}", each.error_code, each.error_message)
        for topic in answer.replica_election_results
        for each in topic.partition_result
    ]


def _alter_configs(client: Any, fields: Fields) -> Answers:
    return [answer for resource in fields["resources"] for answer in _alter_one(client, resource)]


def _alter_one(client: Any, resource: Fields) -> Answers:
    """Brokers before 2.3 take whole configurations only, which the client makes up from what is set."""
    kind, name = resource["type"], resource["name"]
    wishes: dict[str, object] = {key: (_SET, value) for key, value in resource["set"].items()}
    wishes |= dict.fromkeys(resource["delete"], (_DELETE, None))
    answer = asked(client.alter_configs, [config_resource(client, kind, name, wishes)], raise_on_unknown=False)
    said = answer[kind][name]
    return [] if said == "OK" else [(name or "all brokers", UNTOLD, str(said))]


def _alter_reassignments(client: Any, fields: Fields) -> Answers:
    partition_of = library().structs.TopicPartition
    wishes = {
        partition_of(topic, partition): replicas
        for topic, partitions in fields["topics"].items()
        for partition, replicas in _numbered(partitions).items()
    }
    answer = asked(client.alter_partition_reassignments, wishes)
    return [(f"{p.topic}-{p.partition}", 0 if error is None else error.errno, None) for p, error in answer.items()]


def _delete_groups(client: Any, fields: Fields) -> Answers:
    answer = asked(client.delete_groups, list(fields["groups"]))
    return [(group, 0 if said == "OK" else UNTOLD, said) for group, said in answer.items()]


def _commit_offsets(client: Any, fields: Fields) -> Answers:
    structs = library().structs
    wishes = {
        structs.TopicPartition(topic, partition): structs.OffsetAndMetadata(offset, "", -1)
        for topic, offsets in fields["offsets"].items()
        for partition, offset in _numbered(offsets).items()
    }
    answer = asked(client.alter_group_offsets, fields["group"], wishes)
    return [(f"{p.topic}-{p.partition}", error.errno, None) for p, error in answer.items()]


def _numbered(by_text: Mapping[str, Any]) -> dict[int, Any]:
    """JSON's keys are texts."""
    return {int(number): value for number, value in by_text.items()}


CALLS: Mapping[str, Callable[[Any, Fields], Answers]] = {
    "AlterPartitionReassignments": _alter_reassignments,
    "CreatePartitions": _create_partitions,
    "CreateTopics": _create_topics,
    "DeleteGroups": _delete_groups,
    "DeleteTopics": _delete_topics,
    "ElectLeaders": _elect_leaders,
    "IncrementalAlterConfigs": _alter_configs,
    "OffsetCommit": _commit_offsets,
}
"""By Kafka's name of the API: what a proposal may ask for, and nothing else."""


class AdminWriter:
    """One client for the requests of one action; see `Writer`. Connects with the first question."""

    def __init__(self, bootstrap: str, options: Mapping[str, Any] | None = None) -> None:
        """`bootstrap` is `host:port[,…]`, `options` kafka-python's for the login."""
        self._bootstrap = bootstrap
        self._options = options or {}

    @cached_property
    def client(self) -> Any:
        """kafka-python's, connected. Raises ActionRefused where no broker answers."""
        return admin_client(self._bootstrap, self._options)

    @property
    def reads(self) -> AdminReads:
        """What the same connection can be asked."""
        return AdminReads(self.client)

    def check(self, steps: Sequence[Step]) -> str:
        """What each request relies on, as the brokers see it now."""
        try:
            expects = {fact: value for call in _calls(steps) for fact, value in call.expects.items()}
            replicas = _replicas(self.reads, [fact for fact in expects if " " not in fact])
            for fact, expected in expects.items():
                now = replicas[fact] if fact in replicas else _fact(self.reads, fact)
                if now != expected:
                    return f"{fact} is {_said(now)} by now and was {_said(expected)}: nothing was sent; look again"
        except (ActionRefused, UnansweredError) as error:
            return str(error)
        return ""

    def carry_out(self, steps: Sequence[Step]) -> WriteOutcome:
        """One request after the other, up to the first that is refused or not answered."""
        for done, call in enumerate(_calls(steps)):
            try:
                refused = send(self.client, call.api, call.fields)
            except ActionRefused as error:
                return WriteOutcome("refused", str(error), done)
            except UnansweredError as error:
                return WriteOutcome("unknown", f"{call.api} was sent and not answered ({error}): look again", done)
            if refused:
                more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
                return WriteOutcome("refused", f"{refused[0]}{more}", done)
        return WriteOutcome("done", done=len(steps))

    def close(self) -> None:
        """Ends the connections."""
        if "client" in self.__dict__:
            self.__dict__.pop("client").close()


def _replicas(reads: AdminReads, partitions: Sequence[str]) -> dict[str, list[int] | None]:
    """What is true now of `orders-0` and others, asked at once."""
    named = {text: _partition(text) for text in partitions}
    held = reads.partitions(sorted({partition.topic for partition in named.values()}))
    return {text: list(held[each].replicas) if each in held else None for text, each in named.items()}


def _fact(reads: AdminReads, fact: str) -> object:
    """What is true now of `partitions T`, `topic-id T`, `members G`, `offset G P`, `config topic NAME KEY`."""
    kind, _, subject = fact.partition(" ")
    if kind in ("partitions", "topic-id"):
        found = reads.topic_ids([subject]).get(subject)
        return None if found is None else found[kind == "partitions"]
    if kind == "members":
        return reads.members(subject)
    if kind == "offset":
        group, _, read = subject.rpartition(" ")
        return reads.offsets(group).get(_partition(read))
    of, name, key = subject.split(" ", 2)
    return reads.configs(of, [name])[name].get(key)


def _partition(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


def _said(value: object) -> str:
    return "not there" if value is None else str(value)


def _calls(steps: Sequence[Step]) -> list[ApiCall]:
    return [step for step in steps if isinstance(step, ApiCall)]


KINDS = {"topics": "topic", "brokers": "broker"}


class BrokersRoute:
    """See `RouteToCluster`."""

    def __init__(self, reads: AdminReads, writers: Writers) -> None:
        self._reads = reads
        self.writers = writers

    def look(self, wanted: WantedReads) -> ObservedCluster:
        """Raises ActionRefused and UnansweredError."""
        topics = {name.topic for name in wanted.partitions}
        held = self._reads.partitions(sorted(topics))
        here = [name for name in wanted.partitions if name in held]
        moving = self._reads.reassignments(here)
        still = Reassigned()
        return ObservedCluster(
            partitions={
                name: PartitionNow(held[name].replicas, to.adding, to.removing, held[name].isr)
                for name in here
                for to in (moving.get(name, still),)
            },
            alive=self._reads.alive(),
            configs=self._configs(wanted.entities),
        )

    def steps_of(self, command: Command, observed: ObservedCluster) -> Sequence[Step]:
        """What they rely on is asked once more when they are sent."""
        return reassignments.calls_of(command, observed)

    def _configs(self, entities: Sequence[str]) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for kind, resource in KINDS.items():
            names = [name.removeprefix(f"{kind}/") for name in entities if name.startswith(f"{kind}/")]
            if names:
                found |= {f"{kind}/{name}": config for name, config in self._reads.configs(resource, names).items()}
        return found
