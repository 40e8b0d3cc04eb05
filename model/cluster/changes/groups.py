"""Changes of consumer groups: members, owners, rebalances, offsets. A group that just appeared or went is one line."""

from collections.abc import Iterator

from model.cluster.changes.change import Change, Step, differing
from model.cluster.group_image import ZOOKEEPER, GroupImage, Rebalance
from model.cluster.ids import TopicPartition
from model.cluster.words import MOST, counted

_Commit = tuple[GroupImage, TopicPartition, int | None, int]


def group_changes(step: Step) -> Iterator[Change]:
    """In the order of the groups' names, ZooKeeper's first, offsets last."""
    commits: list[_Commit] = []
    for name, old, new in sorted(differing(step.before.groups, step.after.groups), key=lambda one: one[0]):
        if old is None or new is None:
            yield _appeared_or_gone(step, name, new, f"/consumers/{name}")
        else:
            yield from _members(step, old, new)
            yield from _owners(step, old, new)
            yield from _rebalances(step, old, new)
            for read, was, offset in differing(old.offsets, new.offsets):
                if offset is not None and was != offset:
                    commits.append((new, read, was, offset))
    classic = differing(step.before.classic_groups, step.after.classic_groups)
    for name, old, new in sorted(classic, key=lambda one: one[0]):
        if old is None or new is None:
            yield _appeared_or_gone(step, name, new)
        else:
            yield from _coordinated(step, old, new)
            # Commits come every second; only one that goes back is news.
            for read, was, offset in differing(old.offsets, new.offsets):
                if offset is not None and was is not None and offset < was:
                    commits.append((new, read, was, offset))
    yield from _commits(step, commits)


def _appeared_or_gone(step: Step, name: str, new: GroupImage | None, path: str | None = None) -> Change:
    if new is None:
        return step.change("group-gone", f"group {name}", "gone", path)
    members = f" with {counted(len(new.members), 'consumer')}" if new.is_described else f": a {new.kind} group"
    return step.change("group-appeared", f"group {name}", f"appeared{members}", path)


def _coordinated(step: Step, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    """Its members' coming and going is told with the rebalance, which ends it."""
    if old.coordinator is not None and new.coordinator is not None and old.coordinator != new.coordinator:
        text = f"coordinator b{old.coordinator} -> b{new.coordinator}{step.because(old.coordinator)}"
        yield step.change("group-coordinator-moved", f"group {new.name}", text)
    yield from _rebalances(step, old, new)


def _rebalances(step: Step, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    known = {past.at_ms for past in old.rebalances if past.took_ms is not None}
    for past in new.rebalances:
        if past.took_ms is not None and past.at_ms not in known:
            yield step.change("group-rebalanced", f"group {new.name}", f"rebalanced: {rebalance_text(past)}")


def rebalance_text(past: Rebalance) -> str:
    """`generation 4, c2 left, 0.4 s, 3 partitions moved`."""
    parts = [*_generations(past), *past.why]
    if past.took_ms is None:
        parts.append("under way")
    elif past.took_ms:
        parts.append(f"{past.took_ms / 1000:.1f} s")
    parts.append(f"{counted(past.moved, 'partition')} moved" if past.moved else "nothing moved")
    return ", ".join(parts)


def _generations(past: Rebalance) -> Iterator[str]:
    if past.generation is not None and past.generations > 1:
        yield f"generations {past.generation - past.generations + 1} to {past.generation}"
    elif past.generation is not None:
        yield f"generation {past.generation}"


def _members(step: Step, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    for consumer, was, now in differing(old.members, new.members):
        path = f"/consumers/{new.name}/ids/{consumer}"
        if was is None and now is not None:
            text = f"{consumer} joined with {counted(now.threads, 'thread')}"
            yield step.change("member-joined", f"group {new.name}", text, path, time_ms=now.joined_ms)
        elif now is None:
            yield step.change("member-left", f"group {new.name}", f"{consumer} left", path)


def _owners(step: Step, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    for owned, was, now in differing(old.owners, new.owners):
        subject, path = f"group {new.name}", f"/consumers/{new.name}/owners/{owned.topic}/{owned.partition}"
        if was is None:
            yield step.change("partition-claimed", subject, f"{owned} claimed by {now}", path)
        elif now is None:
            yield step.change("partition-released", subject, f"{owned} released by {was}", path)
        elif was != now:
            yield step.change("partition-handed-over", subject, f"{owned} moved {was} -> {now}", path)


def _commits(step: Step, commits: list[_Commit]) -> Iterator[Change]:
    """Each one while they are few, else one for each topic of each group."""
    if len(commits) <= MOST:
        for group, read, was, offset in commits:
            text = f"{read} offset {'none' if was is None else was} -> {offset}"
            path = f"/consumers/{group.name}/offsets/{read.topic}/{read.partition}" if group.kind == ZOOKEEPER else None
            yield step.change("offset-committed", f"group {group.name}", text, path)
        return
    topics: dict[tuple[str, str], list[int]] = {}
    for group, read, was, offset in commits:
        topics.setdefault((group.name, read.topic), []).append(0 if was is None else offset - was)
    for (group_name, topic), advances in sorted(topics.items()):
        text = f"{counted(len(advances), 'offset')} of {topic} committed, {sum(advances):+,} records"
        yield step.change("offset-committed", f"group {group_name}", text)
