"""Row one of every screen, and the cluster in a few lines: counts, and bars for what is out of order.

Both count what was found and look for nothing themselves, so they cost nothing to ask.
"""

from model.cluster.findings.cluster import turnout
from model.sources.feed import Moment
from tui.engine.cluster.queries import OverviewText
from tui.engine.messages import HeaderFacts, TextAnswer
from tui.engine.rows import Span, span
from tui.engine.sheets import Sheet


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


BAR = 15
"""Most cells of a bar between its ends."""

_TEXT = 18
"""Cells before a bar."""


def overview_text(moment: Moment, query: OverviewText, *_: object) -> TextAnswer:
    """The box at the top of the first screen."""
    image = moment.image
    sheet = Sheet("Cluster", query.width)
    if not (image.provenance.complete or image.brokers or image.topics):
        sheet.say("nothing was read yet")
        if moment.status.reason:
            sheet.say(moment.status.reason, "warn")
        return sheet.answer()
    down = dead_brokers(moment)
    racks = len({broker.rack for broker in image.brokers.values() if broker.rack})
    unsure = len(image.unconfirmed_brokers)
    up, downs = len(image.brokers) - unsure, [span(f"  {down} DOWN", "error")] if down else []
    downs += [span(f"  {unsure} unconfirmed", "warn")] if unsure else []
    sheet.draw(*_counted("brokers", up), span(" up"), *downs, span(f"  {racks} racks" if racks else ""))
    sheet.draw(
        *_counted("topics", len(image.topics)), span("   partitions ", "dim"), span(f"{image.partition_count:,}")
    )
    partitions = image.partition_count
    moving = len({*image.admin.reassignments, *_moving(moment)})
    for name, count, sign, style in (
        ("offline", partitions_found(moment, "offline"), "X", "error"),
        ("under-repl", partitions_found(moment, "under-replicated"), "!", "warn"),
        ("off-prefer", sum(moment.findings.tally.off_preferred.values()), "~", "changed"),
        ("moving", moving, "+", "adding"),
    ):
        sheet.draw(*_counted(name, count, style if count else ""), *_bar(count, partitions, sign, style, query.width))
    return sheet.answer()


def _counted(name: str, count: int, style: str = "") -> tuple[Span, Span]:
    return span(f"{name:10} ", "dim"), span(f"{count:>5,}", style)


def _moving(moment: Moment) -> set[tuple[str, int]]:
    topics = moment.image.topics.values()
    return {(topic.name, number) for topic in topics for number in {*topic.adding, *topic.removing}}


def _bar(count: int, of: int, sign: str, style: str, width: int) -> tuple[Span, ...]:
    """`  |!!!....|`: one sign for the first partition already, all of them only for the last."""
    size = min(BAR, width - _TEXT - 2)
    if size < 3:
        return ()
    full = min(max(round(count * size / of), 1), size - (count < of)) if count and of else 0
    return span("  |", "dim"), span(sign * full, style), span("." * (size - full) + "|", "dim")
