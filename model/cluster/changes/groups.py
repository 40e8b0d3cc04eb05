"""Changes of consumer groups: members, owners, offsets. A group that just appeared or went is one line."""

from collections.abc import Iterator

from model.cluster.changes.change import Change, Step, differing
from model.cluster.group_image import GroupImage
from model.cluster.ids import TopicPartition
from model.cluster.words import MOST, counted

_Commit = tuple[GroupImage, TopicPartition, int | None, int]


def group_changes(step: Step) -> Iterator[Change]:
    """In the order of the groups' names, offsets last."""
    commits: list[_Commit] = []
    for name, old, new in sorted(differing(step.before.groups, step.after.groups), key=lambda one: one[0]):
        if old is None and new is not None:
            text = f"appeared with {counted(len(new.members), 'consumer')}"
            yield step.change("group-appeared", f"group {name}", text, f"/consumers/{name}")
        elif new is None:
            yield step.change("group-gone", f"group {name}", "gone", f"/consumers/{name}")
        elif old is not None:
            yield from _members(step, old, new)
            yield from _owners(step, old, new)
            for read, was, offset in differing(old.offsets, new.offsets):
                if offset is not None and was != offset:
                    commits.append((new, read, was, offset))
    yield from _commits(step, commits)


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
            path = f"/consumers/{group.name}/offsets/{read.topic}/{read.partition}"
            yield step.change("offset-committed", f"group {group.name}", text, path)
        return
    topics: dict[tuple[str, str], list[int]] = {}
    for group, read, was, offset in commits:
        topics.setdefault((group.name, read.topic), []).append(0 if was is None else offset - was)
    for (group_name, topic), advances in sorted(topics.items()):
        text = f"{counted(len(advances), 'offset')} of {topic} committed, {sum(advances):+,} records"
        yield step.change("offset-committed", f"group {group_name}", text)
