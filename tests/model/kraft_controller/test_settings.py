"""Settings and features: worked cases I, run with the real classes of 4.0 to 4.4; ELR on, e [1,2,3], min ISR 3."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import METADATA_VERSION, TopicPartition
from model.kraft_controller.cluster import (
    EVERY_BROKER,
    BrokerChanged,
    ConfigWritten,
    ElrCleared,
    FeatureWritten,
    KraftCluster,
)
from model.kraft_controller.decide import BrokerCaughtUp, BrokerSilent, KraftEvent, decide
from model.kraft_controller.partition_change import ELR_FEATURE, Levels
from model.kraft_controller.settings import Setting, Upgrade, alter_configs, level_error, update_feature
from tests.model.kraft_controller.clusters import RELEASES_OF_4, active, after, made, part

MIN = "min.insync.replicas"
E0 = TopicPartition("e", 0)
of_each_release = pytest.mark.parametrize("levels", [Levels(each, 25, elr=True) for each in RELEASES_OF_4], ids=str)


def state_i(levels: Levels, *events: KraftEvent) -> KraftCluster:
    configs = {"topics/e": {MIN: "3"}, EVERY_BROKER: {MIN: "2"}}
    return after(made(levels, {"e": [part(1, 2, 3)], "f": [part(1)]}, active(1, 2, 3), configs), *events)


def answered(cluster: KraftCluster, entity: str, value: str | None, key: str = MIN) -> tuple[str, list[object]]:
    answer = alter_configs(cluster, [Setting(entity, key, value)])
    return answer.errors[0].name, list(answer.records)


@of_each_release
def test_i1_a_new_min_isr_clears_the_elr(levels: Levels) -> None:
    found = state_i(levels, BrokerSilent(3))
    assert (found.partition(E0).isr, found.partition(E0).elr) == ((1, 2), (3,))
    assert answered(found, "topics/e", "3") == ("none", [])
    assert answered(found, "topics/e", "2") == ("none", [ConfigWritten("topics/e", MIN, "2"), ElrCleared("e")])
    before, now = found.partition(E0), found.after(alter_configs(found, [Setting("topics/e", MIN, "2")]).records)
    cleared = now.partition(E0)
    assert (cleared.elr, cleared.leader_epoch) == ((), before.leader_epoch)
    assert cleared.partition_epoch == before.partition_epoch + 1
    assert now.min_isr("e") == 2
    assert now.partition(TopicPartition("f", 0)).partition_epoch == 0  # it had no ELR


@of_each_release
def test_i2_without_a_leader_that_leaves_nobody_to_elect(levels: Levels) -> None:
    found = state_i(levels, BrokerSilent(3), BrokerSilent(2), BrokerSilent(1))
    assert (found.partition(E0).isr, found.partition(E0).elr) == ((), (1, 2, 3))
    records = alter_configs(found, [Setting(EVERY_BROKER, MIN, "2")]).records
    assert records == (ConfigWritten(EVERY_BROKER, MIN, "2"), ElrCleared())  # i3: also the present value
    lost = found.after(records)
    assert (lost.partition(E0).elr, lost.partition(E0).last_known_elr) == ((), ())
    assert decide(lost, BrokerCaughtUp(1)).records == (BrokerChanged(1, fenced=False),)


@of_each_release
def test_i4_to_i6_what_is_refused(levels: Levels) -> None:
    found = state_i(levels)
    assert answered(found, EVERY_BROKER, None) == answered(found, "brokers/1", "1") == ("invalid_config", [])
    assert answered(found, "topics/e", None) == ("none", [ConfigWritten("topics/e", MIN, None), ElrCleared("e")])
    gone = found.after([ConfigWritten("topics/e", MIN, None)])
    assert answered(gone, "topics/e", None) == ("none", [])
    long = answered(found, "topics/e", "x" * 32_768, "other")
    assert long[0] == ("none" if levels.release < (4, 1) else "invalid_config")
    off = made(levels._replace(elr=False), {}, active(1))
    assert answered(off, "brokers/1", "1") == ("none", [ConfigWritten("brokers/1", MIN, "1")])


@of_each_release
def test_i7_and_i8_elr_is_switched_on_and_off(levels: Levels) -> None:
    off = made(levels._replace(elr=False), {}, active(1, 3), {"brokers/3": {MIN: "1"}})
    up = update_feature(off, ELR_FEATURE, 1, Upgrade.UPGRADE, 2)
    safe = (ConfigWritten(EVERY_BROKER, MIN, "2"), ConfigWritten("brokers/3", MIN, None))
    assert up.records == (*safe, FeatureWritten(ELR_FEATURE, 1))
    on = off.after(up.records)
    assert on.levels.elr
    assert update_feature(on, ELR_FEATURE, 1, Upgrade.UPGRADE, 2).records == (FeatureWritten(ELR_FEATURE, 1),)
    old = made(levels._replace(elr=False, metadata_version=22), {}, active(1))
    for cluster, level, way in ((old, 1, Upgrade.UPGRADE), (on, 0, Upgrade.UPGRADE), (off, 1, Upgrade.SAFE_DOWNGRADE)):
        assert update_feature(cluster, ELR_FEATURE, level, way, 2).error is ErrorCode.invalid_update_version
    down = update_feature(on, ELR_FEATURE, 0, Upgrade.SAFE_DOWNGRADE, 2)
    assert down.records == (FeatureWritten(ELR_FEATURE, 0),)
    assert not on.after(down.records).levels.elr


@of_each_release
def test_i9_no_way_back_once_records_changed(levels: Levels) -> None:
    found = state_i(levels)
    safe, unsafe = Upgrade.SAFE_DOWNGRADE, Upgrade.UNSAFE_DOWNGRADE
    down = update_feature(found, METADATA_VERSION, 23, safe, 1)
    assert down.records == (FeatureWritten(METADATA_VERSION, 23),)
    assert found.after(down.records).levels.metadata_version == 23
    assert update_feature(found, METADATA_VERSION, 25, Upgrade.UPGRADE, 1).records == (
        FeatureWritten(METADATA_VERSION, 25),
    )
    for level, way in ((23, Upgrade.UPGRADE), (22, safe), (22, unsafe)):
        assert update_feature(found, METADATA_VERSION, level, way, 1).error is ErrorCode.invalid_update_version


def test_i9_every_node_has_to_know_a_level_fenced_or_not() -> None:
    """A voter that has not registered says nothing of what it knows, and so knows level 0 alone."""
    knows = {METADATA_VERSION: (7, 33)}
    for supported, error in (
        ({1: knows, 2: knows}, ErrorCode.none),
        ({1: knows, 2: {METADATA_VERSION: (7, 27)}}, ErrorCode.invalid_update_version),
        ({1: knows, 2: {}}, ErrorCode.invalid_update_version),
    ):
        assert level_error(supported, METADATA_VERSION, 30) is error
    assert level_error({1: {}}, ELR_FEATURE, 0) is ErrorCode.none
    assert level_error({1: {ELR_FEATURE: (0, 0)}}, ELR_FEATURE, 1) is ErrorCode.invalid_update_version
