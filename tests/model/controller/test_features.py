"""`/feature`: what an election makes of it, and which updates are accepted."""

from __future__ import annotations

import json

import msgspec
import pytest

from model.controller import events_and_commands
from model.controller.decide import new_controller
from model.controller.features import FeatureUpdate, features_after_election, finalized, update_problem
from model.controller.generations import ControllerSettings, generation_of
from model.controller.steps.cluster_wide import SetUpFeatures
from model.znodes.cluster import BrokerRegistration, FinalizedFeatures, SupportedVersions, decode_broker
from model.zookeeper import Answer, Create, SetData
from tests.harness.virtual_cluster import VirtualCluster, registration
from tests.model.controller.golden_trace import by_path

FEATURE = "/feature"
DISABLED = b'{"features":{},"version":2,"status":0}'
ENABLED = b'{"features":{"f":{"max_version_level":3}},"version":2,"status":1}'
FROM_2_7 = b'{"features":{"f":{"max_version_level":3,"min_version_level":1}},"version":1,"status":1}'
NOTHING = {"features": {}, "version": 2, "status": 1}


@pytest.mark.parametrize(
    ("found", "finalizes", "after"),
    [
        (None, True, NOTHING),
        (DISABLED, True, NOTHING),
        (ENABLED, True, None),
        (FROM_2_7, True, {"features": {"f": {"max_version_level": 3}}, "version": 2, "status": 1}),
        (None, False, {**NOTHING, "status": 0}),
        (DISABLED, False, None),
        (ENABLED, False, {**NOTHING, "status": 0}),
        (b"{", True, None),
    ],
)
def test_an_election_enables_or_disables_it(found: bytes | None, finalizes: bool, after: object) -> None:
    """ControllerIntegrationTest, feature znode: with and without an inter.broker.protocol.version of 2.7."""
    cluster = VirtualCluster(finalizes_features=finalizes)
    if found is not None:
        cluster.write(Create(FEATURE, found))
    mark = len(cluster.log)
    cluster.start(1)
    written = by_path(cluster.since(mark)).get(FEATURE, [])
    assert [write.data for write in written] == ([] if after is None else [after])
    assert [write.version for write in written] == ([] if after is None else [0 if found is None else 1])


@pytest.mark.parametrize(
    ("release", "data", "why"),
    [
        ("2.6", b"{", ""),
        ("2.7", b"{", "/feature cannot be read: it is left as it is."),
        ("3.9", b"{", "/feature cannot be read: it is left as it is."),
        ("3.9", ENABLED, ""),
    ],
)
def test_what_cannot_be_read_is_left_as_it_is(release: str, data: bytes, why: str) -> None:
    context = new_controller(ControllerSettings(broker_id=1, generation=generation_of(release))).context
    found = SetUpFeatures().resume(context, (Answer(data=data),))
    assert (found.why, found.then) == (why, ())


def test_version_1_has_ranges() -> None:
    features = features_after_election(finalized({"f": 2}, 1), 1, enabled=True)
    assert json.loads(features.to_bytes())["features"] == {"f": {"max_version_level": 2, "min_version_level": 2}}
    assert features_after_election(features, 2, enabled=True) == finalized({"f": 2}, 2)


SUPPORTED = {"f": SupportedVersions(min_version=1, max_version=4)}


@pytest.mark.parametrize(
    ("update", "existing", "problem"),
    [
        (FeatureUpdate("f", 3), None, None),
        (FeatureUpdate("f", 3), 2, None),
        (FeatureUpdate("f", 1, "safe downgrade"), 2, None),
        (FeatureUpdate("f", 0, "safe downgrade"), 2, None),
        (FeatureUpdate("", 3), None, "can not be empty"),
        (FeatureUpdate("f", 3, "unknown"), None, "unknown upgrade type"),
        (FeatureUpdate("f", 0, "safe downgrade"), None, "non-existing"),
        (FeatureUpdate("f", 0), 2, "less than 1"),
        (FeatureUpdate("f", 2), 2, "already"),
        (FeatureUpdate("f", 1), 2, "without the SAFE"),
        (FeatureUpdate("f", 1, "unsafe downgrade"), 2, "without the SAFE"),
        (FeatureUpdate("f", 3, "safe downgrade"), 2, "above the existing"),
        (FeatureUpdate("g", 1), None, "not supported"),
        (FeatureUpdate("f", 5), None, "is not within 1 to 4"),
    ],
)
def test_which_updates_are_accepted(update: FeatureUpdate, existing: int | None, problem: str | None) -> None:
    found = update_problem(update, existing, SUPPORTED, [SUPPORTED])
    assert (problem in found.message) if problem and found else (found is None and problem is None)


def test_all_brokers_have_to_support_a_level() -> None:
    older = {"f": SupportedVersions(min_version=1, max_version=2)}
    for others in (older, {}):
        found = update_problem(FeatureUpdate("f", 3), None, SUPPORTED, [SUPPORTED, others])
        assert found is not None
        assert "incompatible" in found.message


def supporting(broker: int, highest: int) -> bytes:
    plain: BrokerRegistration = decode_broker(registration(broker))
    features = {"f": SupportedVersions(min_version=1, max_version=highest)}
    return msgspec.structs.replace(plain, features=features).to_bytes()


def features_in(cluster: VirtualCluster) -> object:
    znode = cluster.read(FEATURE)
    assert znode.ok
    return json.loads(znode.data)["features"]


def test_what_is_accepted_is_written_and_the_rest_answered() -> None:
    cluster = VirtualCluster()
    cluster.start(1)
    cluster.write(SetData("/brokers/ids/1", supporting(1, highest=4)))
    updates = (FeatureUpdate("f", 3), FeatureUpdate("g", 1))
    answer = cluster.ask(events_and_commands.FeatureUpdatesRequested, updates=updates)
    assert [(outcome.feature, outcome.error) for outcome in answer.features] == [
        ("f", "NONE"),
        ("g", "INVALID_REQUEST"),
    ]
    assert features_in(cluster) == {"f": {"max_version_level": 3}}
    mark = len(cluster.log)
    again = cluster.ask(events_and_commands.FeatureUpdatesRequested, updates=updates)
    assert [outcome.error for outcome in again.features] == ["INVALID_REQUEST", "INVALID_REQUEST"]
    assert cluster.since(mark) == []
    cluster.ask(events_and_commands.FeatureUpdatesRequested, updates=(FeatureUpdate("f", 0, "safe downgrade"),))
    assert features_in(cluster) == {}


def test_before_2_7_nobody_knows_of_features() -> None:
    cluster = VirtualCluster(generation=generation_of("2.6"))
    cluster.start(1)
    answer = cluster.ask(events_and_commands.FeatureUpdatesRequested, updates=(FeatureUpdate("f", 1),))
    assert answer.error == "UNSUPPORTED_VERSION"


def test_a_disabled_znode_finalizes_nothing() -> None:
    was = FinalizedFeatures(features=finalized({"f": 2}, 2).features, version=2, status=0)
    assert features_after_election(was, 2, enabled=True) == finalized({}, 2)
