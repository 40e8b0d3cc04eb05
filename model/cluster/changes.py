"""What happened between two images: brokers, the controller, requests, settings and groups; topics are beside.

A group that just appeared or went is one line.
"""

from collections.abc import Callable, Iterator, Sequence

from model.cluster.change import Change, ImageStep, differing, folded
from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.ids import OWN_SETTINGS, TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage, Rebalance
from model.cluster.partition_changes import partition_changes, topic_changes
from model.cluster.texts import HIDDEN, MOST, controller_name, counted, is_sensitive, listed


def broker_changes(step: ImageStep) -> Iterator[Change]:
    """Registered, fenced, unfenced, lost, bounced, changed."""
    known = ({**image.fenced, **image.brokers} for image in (step.before, step.after))
    for broker, old, new in sorted(differing(*known), key=lambda one: one[0]):
        subject, path = f"broker {broker}", f"/brokers/ids/{broker}"
        if _is_told_by_others(step) and ((old is None and new and new.fenced) or (new is None and old and old.fenced)):
            continue  # before 4.0 brokers do not tell of one that is fenced
        if new is None:
            yield step.change("broker-lost", subject, f"b{broker} gone: {_end(step, old)}", path)
        elif new.fenced and (old is None or not old.fenced):
            if old is None:
                yield step.change(
                    "broker-registered", subject, f"b{broker} registered, and fenced until it serves", path
                )
            else:
                yield step.change("broker-fenced", subject, f"b{broker} {_fenced(old)}", path)
        elif old is None:
            yield step.change("broker-registered", subject, f"b{broker} registered{_at(new)}", path)
        elif old.fenced and not new.fenced:
            yield step.change("broker-unfenced", subject, f"b{broker} unfenced: it serves{_epochs(old, new)}", path)
        elif step.after.generation == "kraft" and (old.epoch is None) != (new.epoch is None):
            continue  # brokers know no epoch and one listener, the metadata log all: it is told by another, no news
        elif (old.epoch, old.registered_ms) != (new.epoch, new.registered_ms):
            text = f"b{broker} bounced: registered anew{_epochs(old, new)}"
            yield step.change("broker-bounced", subject, text, path)
        elif difference := _difference(old, new):  # there is none where it only becomes known who is fenced
            yield step.change("broker-changed", subject, f"b{broker} {difference}", path)


def _is_told_by_others(step: ImageStep) -> bool:
    """Whether KRaft's metadata log has taken over from brokers that were polled, or they from it."""
    is_kraft = step.before.generation == step.after.generation == "kraft"
    return is_kraft and (step.before.metadata is None) != (step.after.metadata is None)


def _end(step: ImageStep, old: BrokerImage | None) -> str:
    tells_fenced = old is not None and old.fenced is not None and not _is_told_by_others(step)
    if step.after.generation != "kraft" or tells_fenced:
        return "its registration was removed"
    return "it is fenced, or its registration was removed"


def _fenced(old: BrokerImage) -> str:
    if old.in_controlled_shutdown:
        return "fenced after its controlled shutdown: it is registered and serves nothing"
    return "fenced: it is registered and serves nothing (no heartbeats, or a controlled shutdown)"


def _at(broker: BrokerImage) -> str:
    rack = f" in rack {broker.rack}" if broker.rack else ""
    return f" at {', '.join(broker.endpoints)}{rack}" if broker.endpoints else rack


def _epochs(old: BrokerImage, new: BrokerImage) -> str:
    return f", broker epoch {_number(old.epoch)} -> {_number(new.epoch)}" if old.epoch != new.epoch else ""


def _difference(old: BrokerImage, new: BrokerImage) -> str:
    parts: list[str] = []
    if old.endpoints != new.endpoints:
        parts.append(f"endpoints {', '.join(old.endpoints) or 'none'} -> {', '.join(new.endpoints) or 'none'}")
    if old.rack != new.rack:
        parts.append(f"rack {old.rack or 'none'} -> {new.rack or 'none'}")
    if new.in_controlled_shutdown and not old.in_controlled_shutdown:
        parts.append("began its controlled shutdown")
    return "; ".join(parts)


def controller_changes(step: ImageStep) -> Iterator[Change]:
    """Moved, lost, elected; epoch raised. One line where both happened."""
    old, new = step.before.controller, step.after.controller
    epochs = f", epoch {_number(old.epoch)} -> {_number(new.epoch)}" if old.epoch != new.epoch else ""
    was, is_now = (
        "" if image.controller.broker is None else controller_name(image.controller.broker, image.generation)
        for image in (step.before, step.after)
    )
    if new.broker is None and old.broker is not None:
        text = f"{was} is no longer the controller{step.because(old.broker)}{epochs}"
        yield step.change("controller-lost", "controller", text, "/controller", time_ms=new.since_ms)
    elif old.broker is None and new.broker is not None:
        text = f"{is_now} elected controller{epochs}"
        yield step.change("controller-elected", "controller", text, "/controller", time_ms=new.since_ms)
    elif old.broker != new.broker:
        cause = "" if old.broker is None else step.because(old.broker)
        text = f"controller {was} -> {is_now}{epochs}{cause}"
        yield step.change("controller-moved", "controller", text, "/controller", time_ms=new.since_ms)
    elif epochs:
        yield step.change("controller-epoch", "controller", f"controller{epochs[1:]}", "/controller_epoch")
    if step.before.cluster_id != step.after.cluster_id:
        yield step.change("cluster-identified", "cluster", f"cluster id {step.after.cluster_id}", "/cluster/id")


def _number(epoch: int | None) -> str:
    return "none" if epoch is None else str(epoch)


_REASSIGNMENTS = "/admin/reassign_partitions"
_PREFERRED = "/admin/preferred_replica_election"


def admin_changes(step: ImageStep) -> Iterator[Change]:
    """Deletions, preferred elections and reassignments, asked for and done."""
    old, new = step.before.admin, step.after.admin
    if old is new:
        return
    for topic in sorted(new.delete_topics - old.delete_topics):
        yield step.change("deletion-requested", topic, "marked for deletion", f"/admin/delete_topics/{topic}")
    for topic in sorted(old.delete_topics - new.delete_topics):
        text = "deletion mark gone, topic still there" if topic in step.after.topics else "deleted, mark gone"
        yield step.change("deletion-cleared", topic, text, f"/admin/delete_topics/{topic}")
    if new.preferred_election and new.preferred_election != old.preferred_election:
        text = f"preferred election asked for {_some(new.preferred_election)}"
        yield step.change("preferred-election-requested", "cluster", text, _PREFERRED)
    elif old.preferred_election and not new.preferred_election:
        yield step.change("preferred-election-cleared", "cluster", "preferred election done, request gone", _PREFERRED)
    asked = [moved for moved, target in new.reassignments.items() if old.reassignments.get(moved) != target]
    if asked:
        yield step.change("reassignment-requested", "cluster", f"reassignment asked for {_some(asked)}", _REASSIGNMENTS)
    done = old.reassignments.keys() - new.reassignments.keys()
    if done:
        text = f"reassignment request gone for {_some(sorted(done))}"
        yield step.change("reassignment-request-cleared", "cluster", text, _REASSIGNMENTS)


def _some(partitions: Sequence[object]) -> str:
    return f"{counted(len(partitions), 'partition')}: {listed(partitions)}"


def config_changes(step: ImageStep) -> Iterator[Change]:
    """One for each setting, old -> new; secret values are hidden."""
    for entity, old, new in sorted(differing(step.before.configs, step.after.configs), key=lambda one: one[0]):
        if entity.startswith(OWN_SETTINGS) and (old is None or new is None):
            continue  # a broker tells its file while it runs: that it begins or ends to changes no setting
        was, now = old or {}, new or {}
        for key in sorted(key for key in {**was, **now} if was.get(key) != now.get(key)):
            values = [
                HIDDEN if value and is_sensitive(entity, key) else value for value in (was.get(key), now.get(key))
            ]
            before, after = ("unset" if value is None else value for value in values)
            yield step.change("config-changed", entity, f"{key} {before} -> {after}", f"/config/{entity}")


def unreadable_changes(step: ImageStep) -> Iterator[Change]:
    """Znodes that cannot be used any more, and that can again."""
    for path, old, new in sorted(differing(step.before.unreadable, step.after.unreadable), key=lambda one: one[0]):
        if new is None:
            yield step.change("znode-readable", path, "can be used again, or is gone", path)
        elif old != new:
            yield step.change("znode-unreadable", path, f"cannot be used: {new}", path)


_Commit = tuple[GroupImage, TopicPartition, int | None, int]


def group_changes(step: ImageStep) -> Iterator[Change]:
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


def _appeared_or_gone(step: ImageStep, name: str, new: GroupImage | None, path: str | None = None) -> Change:
    if new is None:
        return step.change("group-gone", f"group {name}", "gone", path)
    members = f" with {counted(len(new.members), 'consumer')}" if new.is_described else f": a {new.kind} group"
    return step.change("group-appeared", f"group {name}", f"appeared{members}", path)


def _coordinated(step: ImageStep, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    """Its members' coming and going is told with the rebalance, which ends it."""
    if old.coordinator is not None and new.coordinator is not None and old.coordinator != new.coordinator:
        text = f"coordinator b{old.coordinator} -> b{new.coordinator}{step.because(old.coordinator)}"
        yield step.change("group-coordinator-moved", f"group {new.name}", text)
    yield from _rebalances(step, old, new)


def _rebalances(step: ImageStep, old: GroupImage, new: GroupImage) -> Iterator[Change]:
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


def _members(step: ImageStep, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    for consumer, was, now in differing(old.members, new.members):
        path = f"/consumers/{new.name}/ids/{consumer}"
        if was is None and now is not None:
            text = f"{consumer} joined with {counted(now.threads, 'thread')}"
            yield step.change("member-joined", f"group {new.name}", text, path, time_ms=now.joined_ms)
        elif now is None:
            yield step.change("member-left", f"group {new.name}", f"{consumer} left", path)


def _owners(step: ImageStep, old: GroupImage, new: GroupImage) -> Iterator[Change]:
    for owned, was, now in differing(old.owners, new.owners):
        subject, path = f"group {new.name}", f"/consumers/{new.name}/owners/{owned.topic}/{owned.partition}"
        if was is None:
            yield step.change("partition-claimed", subject, f"{owned} claimed by {now}", path)
        elif now is None:
            yield step.change("partition-released", subject, f"{owned} released by {was}", path)
        elif was != now:
            yield step.change("partition-handed-over", subject, f"{owned} moved {was} -> {now}", path)


def _commits(step: ImageStep, commits: list[_Commit]) -> Iterator[Change]:
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
        yield step.change("offset-committed", f"group {group_name}", text, count=len(advances))


_PARTS: tuple[Callable[[ImageStep], Iterator[Change]], ...] = (
    broker_changes,
    controller_changes,
    topic_changes,
    partition_changes,
    admin_changes,
    config_changes,
    group_changes,
    unreadable_changes,
)
"""Causes before effects."""


def changes_between(before: ClusterImage, after: ClusterImage) -> tuple[Change, ...]:
    """What happened from one image to a later one, causes before effects.

    More than eight of a kind become one line with counts; unclean elections are always named one by one. The first
    whole image is a single `loaded`, and an image that is not whole says nothing.
    """
    step = ImageStep(before, after)
    if not after.provenance.complete:
        return ()
    if not before.provenance.complete:
        return (step.change("loaded", "cluster", _loaded(after)),)
    return folded(step, (change for part in _PARTS for change in part(step)))


def _loaded(image: ClusterImage) -> str:
    things = (
        counted(len(image.brokers), "broker"),
        counted(len(image.topics), "topic"),
        counted(image.partition_count, "partition"),
        counted(len(image.groups), "group"),
    )
    return f"loaded: {', '.join(things)}"
