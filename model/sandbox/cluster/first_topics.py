"""The topics that a new sandbox begins with. Pure."""

from model.sandbox.clients.topic_creation import NewTopic
from model.sandbox.cluster.options import SandboxOptions

SMALL_SET = {"orders": 6, "payments": 6, "shipments": 4, "customers": 3}
"""Names and partitions."""
CONFIG = {"customers": {"cleanup.policy": "compact"}}
PARTITIONS = 6


def first_topics(options: SandboxOptions) -> tuple[NewTopic, ...]:
    """As many as asked for, `topic-1` and so on, or the small set; three replicas where there are as many brokers."""
    replicas = min(3, options.brokers)
    if options.topics is not None:
        partitions = PARTITIONS if options.partitions is None else options.partitions
        width = len(str(options.topics))
        names = (f"topic-{number:0{width}}" for number in range(1, options.topics + 1))
        return tuple(NewTopic(name, partitions, replicas) for name in names)
    return tuple(
        NewTopic(name, partitions if options.partitions is None else options.partitions, replicas, CONFIG.get(name, {}))
        for name, partitions in SMALL_SET.items()
    )
