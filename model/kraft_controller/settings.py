"""Settings and features that change what is elected: `min.insync.replicas` beside ELRs, and feature levels.

Sources: `ConfigurationControlManager` (`incrementalAlterConfigs`, `maybeGenerateElrSafetyRecords`),
`FeatureControlManager` (`updateFeature`), 3.3 to 4.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.findings.health import MIN_ISR
from model.cluster.ids import METADATA_VERSION
from model.kraft_controller.cluster import (
    EVERY_BROKER,
    ConfigWritten,
    ElrCleared,
    FeatureWritten,
    KraftCluster,
    MetadataRecord,
)
from model.kraft_controller.partition_change import ELR_FEATURE
from model.kraft_controller.requests import ControllerResult

LONGEST_VALUE: Final = 32_767
"""Characters of a setting's value (4.1 and later)."""
ELR_LEVEL: Final = 23
"""metadata.version 4.0-IV1, which ELR needs."""
CHANGES_METADATA: Final = frozenset({1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})
"""Levels that changed records: from there no cluster goes back (`MetadataVersion.didMetadataChange`, 3.9.1, 4.4.0)."""


class Setting(msgspec.Struct, frozen=True):
    """One setting of `topics/NAME`, `brokers/ID` or `brokers/<default>`; None: take it away."""

    entity: str
    key: str
    value: str | None


def alter_configs(cluster: KraftCluster, settings: Sequence[Setting]) -> ControllerResult:
    """What is set on a topic is written only if it differs, what is set on brokers always.

    Any new `min.insync.replicas`, greater or smaller, clears ELRs, and nobody is elected by it.
    """
    errors = tuple(_error(cluster, each) for each in settings)
    written = tuple(
        ConfigWritten(each.entity, each.key, each.value)
        for each, error in zip(settings, errors, strict=True)
        if error is ErrorCode.none and _differs(cluster, each)
    )
    cleared = tuple(_cleared(cluster, written))
    return ControllerResult((*written, *cleared), errors)


def _error(cluster: KraftCluster, setting: Setting) -> ErrorCode:
    entity, key, value = setting.entity, setting.key, setting.value
    is_long = value is not None and len(value) > LONGEST_VALUE and cluster.levels.release >= (4, 1)
    is_fixed = cluster.levels.elr and key == MIN_ISR and entity.startswith("brokers/")
    if is_long or (is_fixed and (entity != EVERY_BROKER or value is None)):
        return ErrorCode.invalid_config
    return ErrorCode.none


def _differs(cluster: KraftCluster, setting: Setting) -> bool:
    if not setting.entity.startswith("topics/"):
        return True
    return cluster.configs.get(setting.entity, {}).get(setting.key) != setting.value


def _cleared(cluster: KraftCluster, written: Sequence[ConfigWritten]) -> Iterator[ElrCleared]:
    if cluster.levels.elr:
        for each in written:
            if each.key == MIN_ISR:
                yield ElrCleared(each.entity.removeprefix("topics/") if each.entity.startswith("topics/") else "")


class Upgrade(Enum):
    """Which way a feature may go."""

    UPGRADE = "upgrade"
    SAFE_DOWNGRADE = "safe downgrade"
    UNSAFE_DOWNGRADE = "unsafe downgrade"


def level_error(supported: Mapping[int, Mapping[str, tuple[int, int]]], feature: str, level: int) -> ErrorCode:
    """Whether all nodes know this level; what a node does not name it knows at 0 only."""
    ranges = [features.get(feature, (0, 0)) for features in supported.values()]
    is_known = level == 0 or all(lowest <= level <= highest for lowest, highest in ranges)
    return ErrorCode.none if is_known else ErrorCode.invalid_update_version


def update_feature(
    cluster: KraftCluster, feature: str, level: int, way: Upgrade, static_min_isr: int, now: int | None = None
) -> ControllerResult:
    """`static_min_isr`: what the active controller's own file says, 1 unless set. `now`: the level of another feature
    than metadata.version and ELR."""
    now = _level(cluster, feature) if now is None else now
    if (level < now and way is Upgrade.UPGRADE) or (level > now and way is not Upgrade.UPGRADE):
        return ControllerResult(error=ErrorCode.invalid_update_version)
    if feature == METADATA_VERSION and any(each in CHANGES_METADATA for each in range(level + 1, now + 1)):
        return ControllerResult(error=ErrorCode.invalid_update_version)
    if feature == ELR_FEATURE and level > 0 and cluster.levels.metadata_version < ELR_LEVEL:
        return ControllerResult(error=ErrorCode.invalid_update_version)
    safety: tuple[MetadataRecord, ...] = ()
    if feature == ELR_FEATURE and level > now:
        safety = tuple(_safety(cluster, static_min_isr))
    return ControllerResult((*safety, FeatureWritten(feature, level)))


def _level(cluster: KraftCluster, feature: str) -> int:
    return cluster.levels.metadata_version if feature == METADATA_VERSION else int(cluster.levels.elr)


def _safety(cluster: KraftCluster, static_min_isr: int) -> Iterator[ConfigWritten]:
    """One `min.insync.replicas` for all brokers, so that no failover of the controller changes what is eligible."""
    if MIN_ISR not in cluster.configs.get(EVERY_BROKER, {}):
        yield ConfigWritten(EVERY_BROKER, MIN_ISR, str(static_min_isr))
    for entity, config in sorted(cluster.configs.items()):
        if entity.startswith("brokers/") and entity != EVERY_BROKER and MIN_ISR in config:
            yield ConfigWritten(entity, MIN_ISR, None)
