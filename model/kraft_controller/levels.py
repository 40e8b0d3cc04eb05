"""Which rules a quorum plays by: the release of its controllers, metadata.version, and whether it keeps ELR.

The level is in the metadata log; the release is not, but what nodes say they support gives it away.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import METADATA_VERSION

ELR_FEATURE: Final = "eligible.leader.replicas.version"
KRAFT_OF_3_3: Final = 7
"""metadata.version 3.3-IV3, the first of a release for production."""
NEWEST: Final = (4, 4)
HIGHEST_LEVELS: Final[Mapping[tuple[int, int], int]] = {
    (3, 3): 7, (3, 4): 8, (3, 5): 11, (3, 6): 14, (3, 7): 19, (3, 8): 20, (3, 9): 21,
    (4, 0): 25, (4, 1): 27, (4, 2): 29, (4, 3): 30, (4, 4): 33,
}  # fmt: skip
"""Release → the highest metadata.version it has (`MetadataVersion`, 4.4)."""


class Levels(NamedTuple):
    """All that rules depend on."""

    release: tuple[int, int] = NEWEST
    metadata_version: int = HIGHEST_LEVELS[NEWEST]
    elr: bool = False
    """Whether eligible leader replicas (KIP-966) are kept."""
    migrating: bool = False
    """Whether controllers have `zookeeper.metadata.migration.enable` (3.4 to 3.9)."""

    @property
    def shrinking_raises_epoch(self) -> bool:
        """Whether a leader epoch rises when somebody leaves the ISR (until KAFKA-15021, 3.6-IV0)."""
        migrates = self.migrating and (3, 6) <= self.release <= (3, 9) and self.metadata_version >= 8
        return self.metadata_version < 12 or migrates

    @property
    def keeps_directories(self) -> bool:
        """Whether partitions name the directories of their replicas (KIP-858, 3.7-IV2)."""
        return self.metadata_version >= 17

    @property
    def registration_cleans_up(self) -> bool:
        """Whether who registers anew is taken out of ISRs, and after an unclean shutdown out of ELRs."""
        return self.release >= (4, 0)


def levels_of(image: ClusterImage) -> Levels:
    """Of a KRaft cluster; where nobody told of features, those of the newest release without ELR."""
    metadata = image.metadata
    if metadata is None or not knows_levels(image):
        return Levels()
    level = metadata.features[METADATA_VERSION]
    controllers = {each.id for each in metadata.controllers} or set(metadata.supported)
    highest = [
        metadata.supported[node][METADATA_VERSION][1]
        for node in controllers & metadata.supported.keys()
        if METADATA_VERSION in metadata.supported[node]
    ]
    release = release_of(max([level, *highest]))
    return Levels(release, level, elr=release >= (4, 0) and metadata.features.get(ELR_FEATURE, 0) > 0)


def knows_levels(image: ClusterImage) -> bool:
    """Whether somebody told of metadata.version: the metadata log does."""
    return image.metadata is not None and METADATA_VERSION in image.metadata.features


def release_of(highest_level: int) -> tuple[int, int]:
    """The first release that has this metadata.version."""
    return next((release for release, level in HIGHEST_LEVELS.items() if level >= highest_level), NEWEST)
