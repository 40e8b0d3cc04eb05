"""Who should own what, as one member works it out for the whole group from what it has read.

Every member does this alone, by the same rule (`kafka.consumer.PartitionAssignor`, 0.8.2, 1.1); see
`model.consumers.assignors`.
"""

from collections.abc import Iterable, Mapping

from model.cluster.ids import TopicPartition
from model.consumers.assignors.case import Case, Member
from model.consumers.assignors.named_threads import streams_of
from model.consumers.assignors.strategies import assign, strategy_named
from model.znodes.consumers import ConsumerRegistration


def owners_of(
    strategy: str, registrations: Mapping[str, ConsumerRegistration], partitions: Mapping[str, tuple[int, ...]]
) -> Mapping[TopicPartition, str]:
    """Threads by partition. Raises AssignorError where the strategy has no answer."""
    counts = {topic: len(numbers) for topic, numbers in partitions.items()}
    members = {name: _member(registration) for name, registration in registrations.items()}
    outcome = assign(Case(topics=counts, members=members), strategy_named(strategy))
    return {
        TopicPartition(topic, partitions[topic][number]): thread
        for thread, owned in outcome.lists().items()
        for topic, number in owned
    }


def topics_read(name: str, registration: ConsumerRegistration, there: Iterable[str]) -> tuple[str, ...]:
    """The topics that a member streams; of those that are `there` if it subscribes by a pattern.

    Raises AssignorError for a pattern that is no regular expression.
    """
    return tuple(streams_of(name, _member(registration), dict.fromkeys(there, 0)))


def _member(registration: ConsumerRegistration) -> Member:
    if registration.pattern == "static" or not registration.subscription:
        return Member(topics=dict(registration.subscription))
    pattern, threads = next(iter(registration.subscription.items()))
    if registration.pattern == "black_list":
        return Member(black_list=pattern, threads=threads)
    return Member(white_list=pattern, threads=threads)
