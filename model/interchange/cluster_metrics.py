"""A cluster and what is wrong with it as metrics. What is not known is left out: an absent metric is no zero.

The only labels are the cluster, and kind and severity of a finding: their number does not grow with topics.
"""

from collections.abc import Iterable

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.checks import SEVERITY
from model.cluster.findings.find import Findings
from model.interchange.exposition import Family, Sample

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
    groups = None if "/consumers" in unknown else len(image.groups) + len(image.classic_groups)
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
        Family(f"kdrill_{name}", text, (Sample(value, {"cluster": cluster}),))
        for name, text, value in rows
        if value is not None
    )


def _findings(cluster: str, findings: Findings) -> Iterable[Family]:
    census = findings.census
    labels = {kind: {"cluster": cluster, "kind": kind, "severity": severity} for kind, severity in SEVERITY.items()}
    yield Family(
        "kdrill_findings",
        "Findings of each kind, as kdrill status lists them; 0 where there is none.",
        tuple(Sample(census.findings[kind], labels[kind]) for kind in SEVERITY),
    )
    yield Family(
        "kdrill_finding_partitions",
        "Partitions that the findings of each kind are about.",
        tuple(Sample(census.partitions[kind], labels[kind]) for kind in SEVERITY),
    )
