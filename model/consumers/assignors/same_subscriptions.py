"""Whether all members of a group subscribe to the same, as Kafka's assignors judge it."""

from collections.abc import Hashable, Sequence

from model.consumers.assignors.case import Case
from model.consumers.assignors.group import AssignorError


def alike_to_clients(lists: Sequence[Sequence[Hashable]], *, as_kafka: bool) -> bool:
    """Whether a sticky assignor takes these subscriptions for equal; `lists` are in the order Kafka walks them.

    Source: `AbstractStickyAssignor.allSubscriptionsEqual` (3.9). Kafka looks at lengths and at what the first list that
    is not empty has: members without topics before it, and a topic named twice, go unnoticed, and such members then get
    partitions they never asked for. Only `as_kafka` overlooks them too.
    """
    first = frozenset[Hashable]()
    distinct = dict.fromkeys(map(tuple, lists))
    verdicts: dict[tuple[Hashable, ...], bool] = {}
    for named in map(tuple, lists):
        if not first:
            first = frozenset(named)
        elif named not in verdicts:
            verdicts[named] = len(named) == len(first) and first.issuperset(named)
    return all(verdicts.values()) and (as_kafka or len(set(map(frozenset, distinct))) <= 1)


def alike_to_coordinator(case: Case) -> bool:
    """Whether every topic has all members for subscribers, unless the case says otherwise. Raises AssignorError."""
    if case.subscription_type == "HETEROGENEOUS":
        return False
    counts: dict[str, int] = {}
    for member in case.members.values():
        for topic in set(member.topics):
            counts[topic] = counts.get(topic, 0) + 1
    alike = all(count == len(case.members) for count in counts.values())
    if case.subscription_type == "HOMOGENEOUS" and not alike:
        raise AssignorError("subscription_type is HOMOGENEOUS, but members subscribe to different topics")
    return alike
