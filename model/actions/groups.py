"""Removing a consumer group that nobody is in any more.

Source: `AdminUtils.deleteConsumerGroupInZK` (0.8.2 to 1.1), DeleteGroups (KIP-229, 1.1).
"""

from model.actions.basis import Basis
from model.actions.found import delete
from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step
from model.cluster.group_image import ZOOKEEPER, GroupImage
from model.cluster.words import counted, listed

MOST_ZNODES = 5_000
"""So many deletions go into one transaction of ZooKeeper for sure."""


def group_root(name: str) -> str:
    """Below it all of a ZooKeeper group is."""
    return f"/consumers/{name}"


def idle_group(basis: Basis, key: str) -> GroupImage:
    """A group, by its key in the image, in which nobody lives. Raises ActionRefused."""
    group = basis.image.group(key)
    if group is None:
        raise ActionRefused(f"group {key!r} does not exist")
    if not group.is_described:
        tool = f"kafka-{group.kind}-groups.sh"
        raise ActionRefused(f"group {group.name} is a {group.kind} group: who is in it is not known here, use {tool}")
    if group.members:
        members = f"{counted(len(group.members), 'member')} ({listed(group.members, 3)})"
        raise ActionRefused(f"group {group.name} has {members}: stop its consumers first")
    if group.kind == ZOOKEEPER and basis.found is None:
        raise ActionRefused(f"group {group.name} is in ZooKeeper: name that as SOURCE")
    return group


def delete_group(basis: Basis, key: str) -> Proposal:
    """The group with its offsets. By ZooKeeper, all below `group_root` has to have been found."""
    group = idle_group(basis, key)
    return Proposal(
        f"delete group {group.name}",
        _steps(basis, group),
        changes=(
            *(f"{group.name}: offset of {read} {offset} → none" for read, offset in sorted(group.offsets.items())),
            *(f"{group.name}: {owned} owned by {owner} → by nobody" for owned, owner in sorted(group.owners.items())),
        ),
        warnings=(f"consumers of {group.name} begin where auto.offset.reset says: at the end, or anew",),
        type_to_confirm=group.name,
        rollback=f"kdrill act SOURCE reset-offsets --group {group.name} with the offsets above",
    )


def _steps(basis: Basis, group: GroupImage) -> tuple[Step, ...]:
    if group.kind != ZOOKEEPER:
        return (ApiCall("DeleteGroups", {"groups": [group.name]}, {f"members {group.name}": 0}),)
    found, root = basis.found or {}, group_root(group.name)
    paths = sorted((path for path in found if path == root or path.startswith(f"{root}/")), reverse=True)
    if not paths:
        raise ActionRefused(f"group {group.name} is gone")
    if any(path.startswith(f"{root}/ids/") for path in paths):
        raise ActionRefused(f"a member of group {group.name} has come back: stop its consumers first")
    if len(paths) > MOST_ZNODES:
        raise ActionRefused(f"group {group.name} has {len(paths):,} znodes: more than ZooKeeper deletes at once")
    return tuple(delete(found, path) for path in paths)
