"""Metrics are written as Prometheus reads them, whatever names there are, and say no more than is known."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.findings import SEVERITY, find
from model.interchange.metrics import Family, MetricSample, cluster_metrics, exposition, unreachable
from tests.model.cluster.build import NOW_MS, brokers, image, topic
from tests.model.interchange.exposition_grammar import Labels, parsed

values = st.integers(-(2**50), 2**50) | st.floats()
label_sets = st.dictionaries(st.sampled_from(["cluster", "kind"]), st.text(max_size=8))


@st.composite
def families(draw: st.DrawFn) -> Family:
    labels = draw(st.lists(label_sets, min_size=1, max_size=3, unique_by=lambda one: frozenset(one.items())))
    samples = tuple(MetricSample(draw(values), one) for one in labels)
    name = draw(st.sampled_from(["kdrill_a", "kdrill_b", "kdrill_c"]))
    return Family(name, draw(st.text(max_size=8)), samples, draw(st.sampled_from(["gauge", "counter"])))


@given(st.lists(families(), max_size=3, unique_by=lambda family: family.name))
def test_what_is_written_is_read_back(written: list[Family]) -> None:
    found = parsed(exposition(written))
    assert found.keys() == {family.name for family in written}
    for family in written:
        told, kind, samples = found[family.name]
        assert (told, kind) == (family.help, family.type)
        for sample in family.samples:
            value = samples[frozenset(sample.labels.items())]
            assert value == sample.value or (math.isnan(value) and math.isnan(sample.value))


def test_a_family_without_samples_is_not_written() -> None:
    assert exposition([Family("kdrill_a", "a", ())]) == ""


def value(text: str, name: str) -> float | None:
    found = parsed(text).get(f"kdrill_{name}")
    return None if found is None else found[2][frozenset({("cluster", "east")})]


def test_a_cluster_and_its_findings() -> None:
    seen = image(
        *brokers(1, 2),
        *topic("orders", (1, 2, 3), 2),
        r.ConfigChanged(entity="topics/orders", config={"min.insync.replicas": "3"}),
        r.PartitionStatesWritten(topic="orders", states=(r.PartitionState(0, 1, 1, (1, 2)),)),
        r.PartitionStatesWritten(topic="orders", states=(r.PartitionState(1, -1, 1, (3,)),)),
        r.ControllerElected(broker=1),
        r.ControllerEpochChanged(epoch=7),
    )
    findings = find(seen)
    metrics = cluster_metrics("east", seen, findings, is_up=True, verified_ms=NOW_MS, now_ms=NOW_MS + 1500)
    text = exposition(metrics)
    assert {name: value(text, name) for name in ("up", "brokers", "topics", "partitions", "controllers")} == {
        "up": 1,
        "brokers": 2,
        "topics": 1,
        "partitions": 2,
        "controllers": 1,
    }
    assert (value(text, "controller_epoch"), value(text, "age_seconds")) == (7, 1.5)
    assert value(text, "verified_timestamp_seconds") == NOW_MS / 1000
    assert value(text, "offline_partitions") == 1
    assert value(text, "under_replicated_partitions") == 1
    assert value(text, "under_min_isr_partitions") == 1
    assert value(text, "at_min_isr_partitions") == 0
    kinds = parsed(text)["kdrill_findings"][2]
    assert len(kinds) == len(SEVERITY)
    assert kinds[labels("dead-broker")] == kinds[labels("offline")] == 1
    assert kinds[labels("unclean-leader")] == 0
    assert parsed(text)["kdrill_finding_partitions"][2][labels("under-replicated")] == 1
    assert sum(kinds.values()) == len(findings.found)


def labels(kind: str) -> Labels:
    return frozenset({("cluster", "east"), ("kind", kind), ("severity", SEVERITY[kind])})


def test_what_is_not_known_is_left_out() -> None:
    paths = ("/controller", "/consumers")
    seen = image(*brokers(1), *(r.ZnodeUnreadable(path=path, reason=r.UNTOLD) for path in paths))
    text = exposition(cluster_metrics("east", seen, find(seen), is_up=False, verified_ms=5000, now_ms=4000))
    assert value(text, "up") == value(text, "age_seconds") == 0
    for name in ("controllers", "consumer_groups"):
        assert value(text, name) is None


def test_of_a_cluster_that_cannot_be_read_only_that_is_said() -> None:
    assert parsed(exposition(unreachable('a"\n\u202eb'))).keys() == {"kdrill_up"}
