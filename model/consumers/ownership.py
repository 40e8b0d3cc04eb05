"""Who owns what in a consumer group, in numbers, and how groups were rebalanced between two images.

Rules: `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1). A member runs `<consumer id>-0` … `<consumer id>-n`; a
thread claims a partition by a znode that dies with its session. A member of a classic group is its own thread.
Says what is there, not whether that is bad: see `model.cluster.findings`.

Rebalances are written into the later image; no clock is read. A ZooKeeper group rebalances from the first change of its
members or owners until its members own every partition again. A group of brokers says itself that it does; of a share
group, what moves are readers that come and go. All are seen as often as the source looks: what comes and goes between
two looks is one rebalance that took no time. A classic group's generation tells how many there were, at least; where it
becomes known only after the rebalance was seen, it is added then.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import topics_of
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, ZOOKEEPER, GroupImage, Rebalance
from model.cluster.records import UNTOLD
from model.cluster.texts import listed
from model.cluster.topic_image import TopicImage

MOST_THREADS = 10_000
"""More threads than this in one member is a damaged znode, not a consumer."""


def threads_of(group: GroupImage, name: str) -> tuple[str, ...]:
    """Ids of the threads a registered member runs: as many as its topic with the most streams asks for."""
    if name not in group.members:
        return ()
    if group.kind != ZOOKEEPER:
        return (name,)
    most = max(group.members[name].subscription.values(), default=0)
    return tuple(f"{name}-{number}" for number in range(min(most, MOST_THREADS)))


def subscribed_topics(group: GroupImage, image: ClusterImage) -> tuple[TopicImage, ...]:
    """The group's topics that the cluster has and is not deleting, by name. See `topics_of` on patterns."""
    names = topics_of(group) - image.admin.delete_topics
    return tuple(image.topics[name] for name in sorted(names) if name in image.topics)


class GroupCounts(NamedTuple):
    """Numbers of one group. `threads` are those of registered members; `lag` is in records, None where not known.

    Of a share group `owned` is what at least one member reads, and idle is who reads nothing.
    """

    members: int
    threads: int
    idle_threads: int
    dead_threads: int
    topics: int
    owned: int
    unowned: int
    lag: int | None


def group_counts(group: GroupImage, image: ClusterImage) -> GroupCounts:
    """Counts members, threads and partitions of a group."""
    assigned = {
        topic.name: frozenset(topic.partitions[~topic.orphaned].tolist()) for topic in subscribed_topics(group, image)
    }
    owners = frozenset(group.owners.values())
    dead = {owner for owner in owners if group.member_of(owner) not in group.members}
    named = {thread for name in group.members for thread in threads_of(group, name)}
    held = {read for read, _ in group.held}
    held_there = sum(read.partition in assigned.get(read.topic, ()) for read in held)
    idle = {name for name, member in group.members.items() if not member.reads}
    return GroupCounts(
        members=len(group.members),
        threads=len(named | (owners - dead)),
        idle_threads=len(idle if group.kind == SHARE else named - owners),
        dead_threads=len(dead),
        topics=len({name for name, there in assigned.items() if there} | {read.topic for read in held}),
        owned=len(held),
        unowned=sum(map(len, assigned.values())) - held_there,
        lag=group_lag(group, image),
    )


def group_lag(group: GroupImage, image: ClusterImage) -> int | None:
    """Records that the group has not read yet, of partitions that it owns or that there are; None where not known."""
    ends, topics, deleted = image.log_ends, image.topics, image.admin.delete_topics
    known = [
        max(ends[read] - offset, 0)
        for read, offset in group.offsets.items()
        if read in ends
        and (read in group.owners or (read.topic not in deleted and _is_assigned(topics.get(read.topic), read)))
    ]
    return sum(known) if known else None


def _is_assigned(topic: TopicImage | None, read: TopicPartition) -> bool:
    row = None if topic is None else topic.row_of.get(read.partition)
    return topic is not None and row is not None and not topic.orphaned[row]


NONE = "no consumer groups"
IN_NO_LOG = "a metadata log knows no consumer groups: ask the cluster's brokers (kafka://…)"
UNKNOWN = "consumer groups are unknown: this source does not tell them"
NOT_ASKED = (
    "no consumer groups in ZooKeeper; brokers were not asked for theirs: "
    "--bootstrap host:port, or kafka in the configuration"
)
"""Since 0.9 consumers have their groups at brokers."""


def no_groups(image: ClusterImage) -> str:
    """One line, for an image without groups."""
    if image.unreadable.get("/consumers") == UNTOLD:
        return IN_NO_LOG if image.generation == "kraft" else UNKNOWN
    return NONE if image.provenance.asks_brokers else NOT_ASKED


def not_previewed(image: ClusterImage) -> str:
    """One line for groups that no strategy applies to; empty where there is none."""
    others = sorted((key, group.kind) for key, group in image.every_group() if not group.has_owners)
    if not others:
        return ""
    named = listed(f"{key} ({kind})" for key, kind in others)
    return f"not previewed: {named}; strategies here apply to groups in which each partition has one owner"


LEAST_RUN = 3
"""Numbers with a step above one that make a range; two of them are shorter as they are."""


def partition_ranges(numbers: Sequence[int], most_cells: int | None = None) -> str:
    """Ascending numbers as ranges; beyond `most_cells` characters the rest is counted (`0-3,7 +12`)."""
    text, written = "", 0
    for run in _runs(numbers):
        longer = f"{text},{_written(run)}" if text else _written(run)
        left = len(numbers) - written - len(run)
        if most_cells is not None and text and len(longer) + (len(f" +{left}") if left else 0) > most_cells:
            return f"{text} +{len(numbers) - written}"
        text, written = longer, written + len(run)
    return text


def _written(run: Sequence[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    step = run[1] - run[0]
    return f"{run[0]}-{run[-1]}" + (f"/{step}" if step > 1 else "")


def _runs(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    start = 0
    while start < len(numbers):
        end = start + 1
        if end < len(numbers):
            step = numbers[end] - numbers[start]
            while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            if step > 1 and end - start < LEAST_RUN:
                end = start + 1
        yield numbers[start:end]
        start = end


KEPT = 20
"""Rebalances kept of a group."""
CAUSES_KEPT = 8
NOTHING_MOVED_MS = 10_000
"""After so long a ZooKeeper group whose members changed and whose owners did not is done: four retries, two seconds
apart (rebalance.max.retries, rebalance.backoff.ms), are over."""
GIVEN_UP_MS = 60_000
"""After so long one that left partitions without an owner, and moves nothing more, is done: its members have given up
(`ConsumerRebalanceFailedException`), or nobody wants those partitions. More than ten seconds, for large groups take
long and retries are set higher."""

_Owned = dict[str, frozenset[TopicPartition]]
_Move = tuple[TopicPartition, str | None, str | None]


def with_rebalances(before: ClusterImage, after: ClusterImage) -> ClusterImage:
    """`after` with what happened to the groups that were in `before`; `after` itself where nothing did."""
    if not before.provenance.complete:
        return after
    groups = _remembered(before.groups, after.groups, after)
    classic = _remembered(before.classic_groups, after.classic_groups, after)
    if groups is after.groups and classic is after.classic_groups:
        return after
    return msgspec.structs.replace(after, groups=groups, classic_groups=classic)


def remembering(past: ClusterImage, image: ClusterImage) -> ClusterImage:
    """`image` with the rebalances that the groups of an earlier image remember, in front of their own."""
    return msgspec.structs.replace(
        image,
        groups=_with_past(past.groups, image.groups),
        classic_groups=_with_past(past.classic_groups, image.classic_groups),
    )


def _with_past(past: Mapping[str, GroupImage], now: Mapping[str, GroupImage]) -> Mapping[str, GroupImage]:
    seen = {name: group.rebalances for name, group in past.items() if group.rebalances and name in now}
    return {
        **now,
        **{
            name: msgspec.structs.replace(now[name], rebalances=(*before, *now[name].rebalances)[-KEPT:])
            for name, before in seen.items()
        },
    }


def _remembered(
    before: Mapping[str, GroupImage], after: Mapping[str, GroupImage], image: ClusterImage
) -> Mapping[str, GroupImage]:
    changed = {
        name: msgspec.structs.replace(new, rebalances=history)
        for name, new in after.items()
        if (old := before.get(name)) is not None
        and (old is not new or _is_open(new))
        and (history := _history(old, new, image)) is not new.rebalances
    }
    return {**after, **changed} if changed else after


def _is_open(group: GroupImage) -> bool:
    return bool(group.rebalances) and group.rebalances[-1].took_ms is None


def _history(old: GroupImage, new: GroupImage, image: ClusterImage) -> tuple[Rebalance, ...]:
    past = new.rebalances
    causes = tuple(_causes(old, new))
    moves = _moves(old, new)
    if _is_open(new):
        past, one = past[:-1], past[-1]
    elif _is_begun(old, new, bool(moves)):
        one = Rebalance(image.provenance.time_ms)
    else:
        return _with_late_generation(past, new.generation)
    why = tuple(dict.fromkeys((*one.why, *causes)))[:CAUSES_KEPT]
    gained, lost = _balance(one, moves)
    one = msgspec.structs.replace(one, why=why, gained=gained, lost=lost)
    passed_ms = max(image.provenance.time_ms - one.at_ms, 0)
    if _is_over(new, image, bool(moves), passed_ms):
        one = _led_to(msgspec.structs.replace(one, took_ms=passed_ms), old.generation, new.generation)
    return new.rebalances if new.rebalances[-1:] == (one,) else (*past, one)[-KEPT:]


def _is_begun(old: GroupImage, new: GroupImage, is_moved: bool) -> bool:
    if new.is_rebalancing and not old.is_rebalancing:
        return True
    if old.generation is not None and new.generation is not None:
        return old.generation != new.generation  # a static member that comes back under a new id changes nothing
    return is_moved or old.members.keys() != new.members.keys()


def _led_to(one: Rebalance, before: int | None, after: int | None) -> Rebalance:
    passed = 1 if before is None or after is None else max(after - before, 1)
    return msgspec.structs.replace(one, generation=after, generations=passed)


def _with_late_generation(past: tuple[Rebalance, ...], generation: int | None) -> tuple[Rebalance, ...]:
    """The generation of the last rebalance, if it was not known when that was over."""
    if generation is None or not past or past[-1].generation is not None:
        return past
    *earlier, last = past
    return (*earlier, _led_to(last, earlier[-1].generation if earlier else None, generation))


def _causes(old: GroupImage, new: GroupImage) -> Iterator[str]:
    for name in sorted(old.members.keys() - new.members.keys()):
        yield f"{short_name(old, name)} left"
    for name in sorted(new.members.keys() - old.members.keys()):
        yield f"{short_name(new, name)} joined"
    for name in sorted(old.members.keys() & new.members.keys()):
        was, now = old.members[name].subscription, new.members[name].subscription
        if was and now and was.keys() != now.keys():
            yield f"{short_name(new, name)} subscribed anew"
    if old.coordinator is not None and new.coordinator is not None and old.coordinator != new.coordinator:
        yield f"coordinator b{old.coordinator} -> b{new.coordinator}"


def short_name(group: GroupImage, member: str) -> str:
    """A member as people call it: by its instance or client id, where no other member has the same."""
    facts = group.members.get(member)
    if facts is None:
        return member
    name = facts.instance_id or facts.client_id
    alike = [each for each in group.members.values() if name in (each.instance_id, each.client_id)]
    return name if name and len(alike) == 1 else member


def _moves(old: GroupImage, new: GroupImage) -> list[_Move]:
    if new.kind == SHARE:
        before, after = set(old.held), set(new.held)
        left = [(read, reader, None) for read, reader in sorted(before - after)]
        return [*left, *((read, None, reader) for read, reader in sorted(after - before))]
    if old.owners is new.owners:
        return []
    reads = sorted(old.owners.keys() | new.owners.keys())
    owners = ((read, old.owners.get(read), new.owners.get(read)) for read in reads)
    return [(read, was, now) for read, was, now in owners if was != now]


def _balance(one: Rebalance, moves: list[_Move]) -> tuple[Mapping[str, tuple[TopicPartition, ...]], ...]:
    """Gained and lost since the rebalance began: what is given back to whoever had it has not moved."""
    gained: _Owned = {owner: frozenset(owned) for owner, owned in one.gained.items()}
    lost: _Owned = {owner: frozenset(owned) for owner, owned in one.lost.items()}
    for read, was, now in moves:
        if was is not None:
            _tip(gained, lost, was, read)
        if now is not None:
            _tip(lost, gained, now, read)
    return _sorted(gained), _sorted(lost)


def _tip(back: _Owned, forth: _Owned, owner: str, read: TopicPartition) -> None:
    side = back if read in back.get(owner, ()) else forth
    side[owner] = side.get(owner, frozenset()) ^ {read}


def _sorted(owned: _Owned) -> Mapping[str, tuple[TopicPartition, ...]]:
    return {owner: tuple(sorted(reads)) for owner, reads in sorted(owned.items()) if reads}


def _is_over(group: GroupImage, image: ClusterImage, is_moved: bool, passed_ms: int) -> bool:
    if group.kind != ZOOKEEPER:
        return not group.is_rebalancing
    if not group.members:
        return True
    counts = group_counts(group, image)
    if counts.unowned or counts.dead_threads:
        return not is_moved and passed_ms >= GIVEN_UP_MS
    return is_moved or passed_ms >= NOTHING_MOVED_MS
