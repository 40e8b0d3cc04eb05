"""A cluster and what is wrong with it as metrics, in Prometheus' text format, version 0.0.4.

What is not known is left out: an absent metric is no zero. The only labels are the cluster, and kind and severity of a
finding: their number does not grow with topics. Samples carry no time, as node_exporter's textfile collector demands.

Source: prometheus.io, "Exposition formats", text-based format.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.find import SEVERITY, Findings


class MetricSample(msgspec.Struct, frozen=True):
    """One value; `labels` by name."""

    value: float
    labels: Mapping[str, str] = {}


class Family(msgspec.Struct, frozen=True):
    """A metric with all of its samples; one without samples is not written. Names are as Prometheus allows them."""

    name: str
    help: str
    samples: tuple[MetricSample, ...]
    type: Literal["gauge", "counter"] = "gauge"


def exposition(families: Iterable[Family]) -> str:
    """The text, each family once, with its HELP and TYPE; it ends with a newline."""
    return "".join(_family(family) for family in families if family.samples)


def _family(family: Family) -> str:
    told = family.help.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {told}", f"# TYPE {family.name} {family.type}"]
    lines += [f"{family.name}{_labels(sample.labels)} {_number(sample.value)}" for sample in family.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(int(value)) if value == int(value) else repr(value)
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


Row = tuple[str, str, float | None]
"""Name without its prefix, help, value; None where it is not known."""


def unreachable(cluster: str) -> tuple[Family, ...]:
    """All that can be said of a cluster that cannot be read."""
    return _gauges(cluster, [_up(is_up=False)])


def cluster_metrics(
    cluster: str, image: ClusterImage, findings: Findings, *, is_up: bool, verified_ms: int, now_ms: int
) -> tuple[Family, ...]:
    """Of a cluster that was read; `is_up` says whether it can be read now, `verified_ms` when it was known to be so."""
    rows = [
        _up(is_up=is_up),
        ("verified_timestamp_seconds", "When the facts were last known to be true, in Unix time.", verified_ms / 1000),
        ("age_seconds", "How old the facts were when this was written.", max(0, now_ms - verified_ms) / 1000),
        *_cluster(image),
        *_partitions(findings),
    ]
    return (*_gauges(cluster, rows), *_findings(cluster, findings))


def _up(*, is_up: bool) -> Row:
    return ("up", "Whether the source of the cluster's facts can be read (1) or not (0).", is_up)


def _cluster(image: ClusterImage) -> Iterable[Row]:
    controller, unknown = image.controller, image.unreadable
    controls = None if "/controller" in unknown else controller.broker is not None
    groups = image.group_count
    live = len(image.brokers) - len(image.unconfirmed_brokers)
    yield "brokers", "Live brokers.", None if "/brokers/ids" in unknown else live
    yield "controllers", "Brokers that are the controller: 1, or 0 while there is none.", controls
    yield "controller_epoch", "The controller epoch; it grows with every election of a controller.", controller.epoch
    yield "topics", "Topics.", len(image.topics)
    yield "partitions", "Partitions.", image.partition_count
    yield "consumer_groups", "Consumer groups that were seen.", groups


def _partitions(findings: Findings) -> Iterable[Row]:
    """Topics that are being deleted are left out."""
    found = findings.census.partitions
    under, below, at = found["under-replicated"], found["under-min-isr"], found["at-min-isr"]
    yield "offline_partitions", "Partitions without a live leader.", found["offline"]
    yield "under_replicated_partitions", "Partitions with a leader and replicas that are not in sync.", under
    yield "under_min_isr_partitions", "Partitions with a leader and fewer in sync than min.insync.replicas.", below
    yield "at_min_isr_partitions", "Partitions with just min.insync.replicas in sync, and others that are not.", at


def _gauges(cluster: str, rows: Iterable[Row]) -> tuple[Family, ...]:
    return tuple(
        Family(f"kdrill_{name}", text, (MetricSample(value, {"cluster": cluster}),))
        for name, text, value in rows
        if value is not None
    )


def _findings(cluster: str, findings: Findings) -> Iterable[Family]:
    census = findings.census
    labels = {kind: {"cluster": cluster, "kind": kind, "severity": severity} for kind, severity in SEVERITY.items()}
    yield Family(
        "kdrill_findings",
        "Findings of each kind, as kdrill status lists them; 0 where there is none.",
        tuple(MetricSample(census.findings[kind], labels[kind]) for kind in SEVERITY),
    )
    yield Family(
        "kdrill_finding_partitions",
        "Partitions that the findings of each kind are about.",
        tuple(MetricSample(census.partitions[kind], labels[kind]) for kind in SEVERITY),
    )
