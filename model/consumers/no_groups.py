"""What is said of groups that are not shown: there is none, nobody was asked who would know, no strategy applies."""

from model.cluster.cluster_image import ClusterImage
from model.cluster.words import listed

NONE = "no consumer groups"
NOT_ASKED = (
    "no consumer groups in ZooKeeper; brokers were not asked for theirs: "
    "--bootstrap host:port, or kafka in the configuration"
)
"""Since 0.9 consumers have their groups at brokers."""


def no_groups(image: ClusterImage) -> str:
    """One line, for an image without groups."""
    return NONE if image.provenance.asks_brokers else NOT_ASKED


def not_previewed(image: ClusterImage) -> str:
    """One line for groups that no strategy applies to; empty where there is none."""
    others = sorted((key, group.kind) for key, group in image.every_group() if not group.has_owners)
    if not others:
        return ""
    named = listed(f"{key} ({kind})" for key, kind in others)
    return f"not previewed: {named}; strategies here apply to groups in which each partition has one owner"
