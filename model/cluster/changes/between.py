"""Puts together what happened to every part of the cluster between two images."""

from collections.abc import Callable, Iterator

from model.cluster.changes.change import Change, Step, folded
from model.cluster.changes.groups import group_changes
from model.cluster.changes.partitions import partition_changes
from model.cluster.changes.requests import admin_changes, config_changes, unreadable_changes
from model.cluster.changes.rulers import broker_changes, controller_changes
from model.cluster.changes.topics import topic_changes
from model.cluster.cluster_image import ClusterImage
from model.cluster.words import counted

_PARTS: tuple[Callable[[Step], Iterator[Change]], ...] = (
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
    step = Step(before, after)
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
