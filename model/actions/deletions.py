"""Deleting topics, and taking the mark of a deletion away.

Source: `TopicCommand.deleteTopic` (0.8.2, 1.1), `AdminZkClient.deleteTopic`, `TopicDeletionManager` (3.9).
"""

from collections.abc import Iterator, Sequence

from model.actions.basis import Basis, refuse
from model.actions.found import check, create, delete
from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step
from model.cluster.ids import INTERNAL_TOPICS
from model.cluster.pending_work import pending_work
from model.cluster.topic_image import TopicImage
from model.cluster.words import brokers, counted, listed
from model.controller.validation import deletion_problem
from model.znodes.paths import delete_topic_path, topic_path


def deletion_paths(names: Sequence[str]) -> tuple[str, ...]:
    """What has to be read before these topics are deleted through ZooKeeper, or their marks taken away."""
    return tuple(path for name in names for path in (topic_path(name), delete_topic_path(name)))


def delete_topics(basis: Basis, names: Sequence[str]) -> Proposal:
    """The topics with all their records. Raises ActionRefused with Kafka's reason."""
    if basis.rules.deletes_by_default is None:
        raise ActionRefused("Kafka 0.8.0 cannot delete topics")
    for name in names:
        if name in INTERNAL_TOPICS:
            raise ActionRefused(f"{name} is internal to Kafka: it is not deleted")
        problem = deletion_problem(name, basis.image.topics, basis.image.admin.delete_topics)
        if problem is not None:
            stuck = waits_for(basis, name)
            raise refuse(problem) if not stuck else ActionRefused(f"{name} is marked for deletion already: {stuck}")
    topics = [basis.topic(name) for name in names]
    return Proposal(
        f"delete {'topic ' if len(names) == 1 else 'topics '}{listed(names)}",
        _steps(basis, topics),
        changes=tuple(f"{topic.name}: {_size(topic)} → deleted with all records" for topic in topics),
        warnings=tuple(_warnings(basis, topics)),
        type_to_confirm=",".join(names),
    )


def waits_for(basis: Basis, name: str) -> str:
    """Why a topic that is marked for deletion is still there; empty for one that is not marked."""
    work = pending_work(basis.image)
    return next((each.waits_for for each in work if each.kind == "delete" and each.topic == name), "")


def remove_delete_marker(basis: Basis, name: str) -> Proposal:
    """The mark of a deletion, which only ZooKeeper holds. Raises ActionRefused where there is none."""
    if basis.found is None:
        raise ActionRefused("the marks of deletions are in ZooKeeper: name it as SOURCE")
    if delete_topic_path(name) not in basis.found:
        raise ActionRefused(f"topic {name!r} is not marked for deletion")
    topic = basis.image.topics.get(name)
    steps: list[Step] = [check(basis.found, topic_path(name))] if topic_path(name) in basis.found else []
    return Proposal(
        f"remove the delete marker of topic {name}",
        (*steps, delete(basis.found, delete_topic_path(name))),
        changes=(f"{name}: marked for deletion → not marked",),
        warnings=tuple(_marker_warnings(basis, name, topic)),
        type_to_confirm=name,
        rollback=f"kdrill topics SOURCE delete --topic {name}",
    )


def _steps(basis: Basis, topics: Sequence[TopicImage]) -> tuple[Step, ...]:
    if basis.found is None:
        expected = {f"topic-id {topic.name}": topic.topic_id for topic in topics if topic.topic_id is not None}
        expected |= {f"partitions {topic.name}": len(topic) for topic in topics}
        return (ApiCall("DeleteTopics", {"topics": [topic.name for topic in topics]}, expected),)
    gone = next((topic.name for topic in topics if topic_path(topic.name) not in basis.found), None)
    if gone is not None:
        raise ActionRefused(f"topic {gone!r} does not exist any more")
    # The topic that was seen, and none of the same name that came after it.
    return tuple(
        step
        for topic in topics
        for step in (check(basis.found, topic_path(topic.name)), create(delete_topic_path(topic.name)))
    )


def _size(topic: TopicImage) -> str:
    return f"{counted(len(topic), 'partition')}, {counted(int(topic.replica_count.sum()), 'replica')}"


def _warnings(basis: Basis, topics: Sequence[TopicImage]) -> Iterator[str]:
    image = basis.image
    if image.generation in ("0.8", "0.9-1.x"):
        yield (
            "delete.topic.enable is false by default up to 0.11: a broker so set only keeps the mark (0.8.1 to 0.10.1; "
            "the topic goes once it is set and the controller starts anew) or takes it away again (0.10.2 on)"
        )
    for topic in topics:
        dead = topic.brokers - set(image.brokers)
        if dead:
            yield f"{topic.name}: {brokers(dead)} (down) hold replicas: the deletion waits until they are back"
        if topic.adding or topic.removing:
            yield f"{topic.name} is being reassigned: the deletion waits until that is done"
        readers = sorted(key for key, group in image.every_group() if any(p.topic == topic.name for p in group.offsets))
        if readers:
            yield f"{topic.name} is read by {counted(len(readers), 'group')}: {listed(readers)}"
    yield "producers and consumers that still use the name create it anew where auto.create.topics.enable is true"


def _marker_warnings(basis: Basis, name: str, topic: TopicImage | None) -> Iterator[str]:
    if topic is None:
        yield "there is no such topic any more: the mark has no effect but to forbid the name"
        return
    if stuck := waits_for(basis, name):
        yield f"the deletion waits for: {stuck}"
    yield (
        "a controller that has begun the deletion goes on with it and keeps it in memory: "
        "only the next controller will not know of it; replicas that are deleted already stay so"
    )
