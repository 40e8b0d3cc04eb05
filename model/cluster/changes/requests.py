"""Changes of what was asked of the cluster (admin znodes, settings) and of what could not be read."""

from collections.abc import Iterator, Sequence

from model.cluster.changes.change import Change, Step, differing
from model.cluster.secrets import HIDDEN, is_sensitive
from model.cluster.words import counted, listed

_REASSIGNMENTS = "/admin/reassign_partitions"
_PREFERRED = "/admin/preferred_replica_election"


def admin_changes(step: Step) -> Iterator[Change]:
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


def config_changes(step: Step) -> Iterator[Change]:
    """One for each setting, old -> new; secret values are hidden."""
    for entity, old, new in sorted(differing(step.before.configs, step.after.configs), key=lambda one: one[0]):
        was, now = old or {}, new or {}
        for key in sorted(key for key in {**was, **now} if was.get(key) != now.get(key)):
            values = [
                HIDDEN if value and is_sensitive(entity, key) else value for value in (was.get(key), now.get(key))
            ]
            before, after = ("unset" if value is None else value for value in values)
            yield step.change("config-changed", entity, f"{key} {before} -> {after}", f"/config/{entity}")


def unreadable_changes(step: Step) -> Iterator[Change]:
    """Znodes that cannot be used any more, and that can again."""
    for path, old, new in sorted(differing(step.before.unreadable, step.after.unreadable), key=lambda one: one[0]):
        if new is None:
            yield step.change("znode-readable", path, "can be used again, or is gone", path)
        elif old != new:
            yield step.change("znode-unreadable", path, f"cannot be used: {new}", path)
