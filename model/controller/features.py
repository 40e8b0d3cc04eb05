"""Finalized features: what `/feature` says after an election, and which updates of it are accepted. It writes nothing.

Source: `KafkaController.maybeSetupFeatureVersioning`, `validateFeatureUpdate` (3.9), `kafka.server.BrokerFeatures`;
KIP-584 (2.7). A broker that runs with ZooKeeper supports no feature of its own, so an election finalizes none.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from model.controller import Refusal
from model.znodes.cluster import FinalizedFeatures, FinalizedLevels, SupportedVersions

DISABLED, ENABLED = 0, 1

UpgradeType = Literal["upgrade", "safe downgrade", "unsafe downgrade", "unknown"]


class FeatureUpdate(msgspec.Struct, frozen=True, gc=False):
    """A feature to finalize at a level; below 1, and not as an upgrade, it is to be finalized no more."""

    feature: str
    level: int
    kind: UpgradeType = "upgrade"

    @property
    def deletes(self) -> bool:
        return self.level < 1 and self.kind != "upgrade"


def features_after_election(current: FinalizedFeatures | None, version: int, *, enabled: bool) -> FinalizedFeatures:
    """What `/feature` has to say: what it says, if that was enabled, else nothing.

    `current` None: it is missing. `enabled` is False while inter.broker.protocol.version is below 2.7.
    """
    kept = enabled and current is not None and current.status == ENABLED
    levels = finalized_levels(current) if kept else {}
    return finalized(levels, version, ENABLED if enabled else DISABLED)


def finalized(levels: Mapping[str, int], version: int, status: int = ENABLED) -> FinalizedFeatures:
    """The payload for these levels. Version 1 has ranges, of one level since nobody can ask for more."""
    features = {
        name: FinalizedLevels(max_version_level=level, min_version_level=level if version == 1 else None)
        for name, level in levels.items()
    }
    return FinalizedFeatures(features=features, version=version, status=status)


def finalized_levels(features: FinalizedFeatures | None) -> dict[str, int]:
    """The level of each feature; nothing where finalizing is disabled."""
    if features is None or features.status != ENABLED:
        return {}
    return {name: levels.max_version_level for name, levels in features.features.items()}


def update_problem(
    update: FeatureUpdate,
    existing: int | None,
    supported: Mapping[str, SupportedVersions],
    by_brokers: Sequence[Mapping[str, SupportedVersions]],
) -> Refusal | None:
    """Why an update is refused.

    `existing` is the feature's level now, None if it is not finalized; `supported` are the features of the controller's
    own broker, `by_brokers` those of all live ones.
    """
    message = _wish_problem(update, existing) or _support_problem(update, supported, by_brokers)
    return None if message is None else Refusal("INVALID_REQUEST", message)


def _wish_problem(update: FeatureUpdate, existing: int | None) -> str | None:
    if not update.feature:
        return "Feature name can not be empty."
    if update.kind == "unknown":
        return "Received unknown upgrade type."
    if update.deletes:
        return "Can not delete non-existing finalized feature." if existing is None else None
    if update.level < 1:
        return f"Can not provide versionLevel: {update.level} less than 1 without setting the SAFE downgradeType."
    if existing is None:
        return None
    if update.level == existing:
        return f"The finalized feature is at versionLevel:{existing} already."
    if update.level < existing and update.kind != "safe downgrade":
        return f"Can not downgrade from versionLevel:{existing} to {update.level} without the SAFE downgradeType."
    if update.level > existing and update.kind != "upgrade":
        return f"A downgrade to versionLevel:{update.level} is above the existing versionLevel:{existing}."
    return None


def _support_problem(
    update: FeatureUpdate,
    supported: Mapping[str, SupportedVersions],
    by_brokers: Sequence[Mapping[str, SupportedVersions]],
) -> str | None:
    if update.deletes:
        return None
    mine = supported.get(update.feature)
    if mine is None:
        return "Could not apply finalized feature update because the provided feature is not supported."
    if not _supports(mine, update.level):
        return f"versionLevel:{update.level} is not within {mine.min_version} to {mine.max_version}, as supported."
    if not all(_supports(broker.get(update.feature), update.level) for broker in by_brokers):
        return "Brokers were found to have incompatible versions for the feature."
    return None


def _supports(versions: SupportedVersions | None, level: int) -> bool:
    return versions is not None and versions.min_version <= level <= versions.max_version
