"""A reassignment through the brokers' Admin API: the requests that a command is.

Source: KIP-455 (AlterPartitionReassignments, 2.4), KIP-339 (IncrementalAlterConfigs, 2.3).
"""

from model.actions.proposal import ApiCall
from model.actions.reassignment import Begin, Command, Standing


def steps_of(command: Command, standing: Standing) -> tuple[ApiCall, ...]:
    """The requests; that replicas are still those of `standing` is checked when they are sent."""
    if isinstance(command, Begin):
        topics: dict[str, dict[str, list[int]]] = {}
        for name, goal in command.goals.items():
            topics.setdefault(name.topic, {})[str(name.partition)] = list(goal)
        expects = {str(name): list(standing.partitions[name].replicas) for name in command.goals}
        return (ApiCall("AlterPartitionReassignments", {"topics": topics}, expects),)
    resources = [
        {
            "type": "topic" if kind == "topics" else "broker",
            "name": name,
            "set": {key: value for key, value in values.items() if value is not None},
            "delete": [key for key, value in values.items() if value is None],
        }
        for entity, values in command.values.items()
        for kind, _, name in [entity.partition("/")]
    ]
    return (ApiCall("IncrementalAlterConfigs", {"resources": resources}),)
