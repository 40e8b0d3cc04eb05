"""What is said where no consumer group is known: that there is none, or that nobody was asked who would know."""

from model.cluster.cluster_image import ClusterImage

NONE = "no consumer groups"
NOT_ASKED = (
    "no consumer groups in ZooKeeper; brokers were not asked for theirs: "
    "--bootstrap host:port, or kafka in the configuration"
)
"""Since 0.9 consumers have their groups at brokers."""


def no_groups(image: ClusterImage) -> str:
    """One line, for an image without groups."""
    return NONE if image.provenance.asks_brokers else NOT_ASKED
