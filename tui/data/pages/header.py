"""Row one of every screen, from a moment. Counts what was found; looks for nothing itself."""

from model.cluster.findings.told import turnout
from model.sources.feed import Moment
from tui.data.messages import HeaderFacts


def header_facts(moment: Moment, kind: str = "") -> HeaderFacts:
    """The header's facts. Cheap: it is asked for ten times a second."""
    image, status = moment.image, moment.status
    census = moment.findings.census
    return HeaderFacts(
        cluster=image.cluster_id or "",
        source=image.provenance.source,
        phase=status.phase,
        kind=kind,
        reason=status.reason or status.warning,
        since_ms=status.since_ms,
        image_time_ms=moment.verified_ms if image.provenance.complete else 0,
        progress=(status.done, status.total),
        zookeeper=status.server,
        poll_ms=status.poll_ms,
        generation=image.generation,
        controller=image.controller.broker,
        controller_epoch=image.controller.epoch,
        brokers_up=len(image.brokers) - len(image.unconfirmed_brokers),
        brokers_down=dead_brokers(moment),
        brokers_unconfirmed=len(image.unconfirmed_brokers),
        topics=len(image.topics),
        partitions=image.partition_count,
        errors=census.of("error"),
        warnings=census.of("warn"),
        offline=partitions_found(moment, "offline"),
        under_replicated=partitions_found(moment, "under-replicated"),
        quorum="" if image.quorum is None or image.quorum.is_led else turnout(image.quorum),
        is_controller_told="/controller" not in image.unreadable,
    )


def dead_brokers(moment: Moment) -> int:
    """Brokers that replicas are placed on and that are not registered."""
    return moment.findings.census.findings["dead-broker"]


def partitions_found(moment: Moment, kind: str) -> int:
    """Partitions that findings of one kind are about."""
    return moment.findings.census.partitions[kind]
