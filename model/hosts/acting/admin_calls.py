"""Each Admin request of a proposal → the call that sends it, and what its answer says. One table."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.hosts.acting.admin_client import UNTOLD, asked, config_resource, library, refusal

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
