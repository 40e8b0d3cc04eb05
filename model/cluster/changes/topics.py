"""Changes of topics as a whole: created, removed, more partitions, reassignments begun and finished."""

from collections.abc import Iterator

import numpy as np

from model.cluster.changes.change import Change, Step, differing
from model.cluster.topic_image import TopicImage
from model.cluster.words import counted, ranges


def topic_changes(step: Step) -> Iterator[Change]:
    """In the order of the topics' names."""
    for name, old, new in sorted(differing(step.before.topics, step.after.topics), key=lambda one: one[0]):
        path = f"/brokers/topics/{name}"
        if old is not None and new is not None and _same_assignment(old, new):
            continue
        had, has = _assigned(old), _assigned(new)
        if not had and has and new is not None:
            text = f"created with {counted(len(has), 'partition')}, {counted(int(new.replica_count.max()), 'replica')}"
            yield step.change("topic-created", name, text, path)
        elif had and not has:
            yield step.change("topic-removed", name, f"removed with {counted(len(had), 'partition')}", path)
        elif old is not None and new is not None:
            yield from _kept(step, old, new, path)


def _same_assignment(old: TopicImage, new: TopicImage) -> bool:
    return (
        (old.topic_id, old.adding, old.removing) == (new.topic_id, new.adding, new.removing)
        and (old.partitions is new.partitions or np.array_equal(old.partitions, new.partitions))
        and (old.replicas is new.replicas or np.array_equal(old.orphaned, new.orphaned))
    )


def _assigned(topic: TopicImage | None) -> set[int]:
    return set() if topic is None else set(topic.partitions[~topic.orphaned].tolist())


def _kept(step: Step, old: TopicImage, new: TopicImage, path: str) -> Iterator[Change]:
    if old.topic_id and new.topic_id and old.topic_id != new.topic_id:
        text = f"deleted and created again: topic id {old.topic_id} -> {new.topic_id}"
        yield step.change("topic-replaced", new.name, text, path)
    had, has = _assigned(old), _assigned(new)
    if has - had:
        text = f"{counted(len(has - had), 'partition')} added: {ranges(sorted(has - had))}"
        yield step.change("partitions-added", new.name, text, path)
    if had - has:
        text = f"{counted(len(had - has), 'partition')} no longer assigned: {ranges(sorted(had - has))}"
        yield step.change("partitions-unassigned", new.name, text, path)
    was_moving, moving = {*old.adding, *old.removing}, {*new.adding, *new.removing}
    if moving - was_moving:
        text = f"reassignment of {_partitions(moving - was_moving)} began"
        yield step.change("reassignment-begun", new.name, text, path)
    if was_moving - moving:
        text = f"reassignment of {_partitions(was_moving - moving)} ended"
        yield step.change("reassignment-finished", new.name, text, path)


def _partitions(partitions: set[int]) -> str:
    return f"partition{'s' if len(partitions) > 1 else ''} {ranges(sorted(partitions))}"
