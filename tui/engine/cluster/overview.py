"""Row one of every screen, and the cluster at a glance: tiles of what is out of order, with their last ten minutes.

Both count what was found and look for nothing themselves, so they cost nothing to ask.
"""

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

from model.cluster.findings.cluster import turnout
from model.sources.feed import Moment
from tui.engine.cluster.gauges import NOTHING_RECENT, Recent, Series, counts_of
from tui.engine.cluster.queries import OverviewPicture
from tui.engine.glyphs import LEVELS, area, condensed
from tui.engine.listing import AnswerMemo
from tui.engine.messages import HeaderFacts, TextAnswer
from tui.engine.rows import Line, Span, line, span
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
        polled=status.polled,
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
        voters_missing=0 if image.quorum is None else len(image.quorum.voters) - len(image.quorum.present),
        quorum="" if image.quorum is None or image.quorum.is_led else turnout(image.quorum),
        is_controller_told="/controller" not in image.unreadable,
    )


def dead_brokers(moment: Moment) -> int:
    """Brokers that replicas are placed on and that are not registered."""
    return moment.findings.census.findings["dead-broker"]


def partitions_found(moment: Moment, kind: str) -> int:
    """Partitions that findings of one kind are about."""
    return moment.findings.census.partitions[kind]


class Tile(NamedTuple):
    """One number with what it was in the last ten minutes. `rank`: which tiles stay where not all fit."""

    number: str
    name: str
    short: str
    """The name where there is little room."""
    style: str
    """Of the number and of whatever is above zero."""
    series: Series
    rank: int

    def title(self, *, is_short: bool) -> str:
        return f"{self.number} {self.short if is_short else self.name}"


GAP = 2
"""Cells between two tiles."""


def overview_picture(
    moment: Moment, query: OverviewPicture, _: int, memory: AnswerMemo, recent: Recent = NOTHING_RECENT
) -> TextAnswer:
    """The box at the top of the first screen: what there is, and a tile for each number that matters."""
    image = moment.image
    sheet = Sheet("Cluster", query.width)
    if not (image.provenance.complete or image.brokers or image.topics):
        sheet.say("nothing was read yet")
        if moment.status.reason:
            sheet.say(moment.status.reason, "warn")
        return sheet.answer()
    made_from = (moment.findings, image, recent.gauges, recent.sample, moment.status.done, query.width, query.height)
    return memory.recall("overview", made_from, lambda: _pictured(moment, query, recent))


def _pictured(moment: Moment, query: OverviewPicture, recent: Recent) -> TextAnswer:
    there = _there(moment)
    if not moment.image.provenance.complete:
        done, total = moment.status.done, moment.status.total
        progress = f" {done:,} of {total:,} znodes" if total else ""
        loading = line(span(f"loading{progress}; findings come once everything was read", "waiting"))
        return _answer((there, loading), [])
    tiles = _tiles(moment, recent)
    shown, is_short = _fitting(tiles, query.width)
    widths = _widths([len(tile.title(is_short=is_short)) for tile in shown], query.width - GAP * (len(shown) - 1))
    height = max(query.height - 2, 1)
    drawn = [_drawn(tile, width, height, is_short=is_short) for tile, width in zip(shown, widths, strict=True)]
    between = span(" " * GAP)
    rows = (tuple(piece for tile in drawn for piece in (*tile[y], between))[:-1] for y in range(height + 1))
    return _answer((there, *rows), tiles)


def _answer(lines: Sequence[Line], tiles: Sequence[Tile]) -> TextAnswer:
    """With all tiles as text for the clipboard, whichever fit on the screen."""
    first = "".join(text for text, _ in lines[0])
    rest = [tile.title(is_short=False) for tile in tiles] or ["".join(text for text, _ in each) for each in lines[1:]]
    return TextAnswer("Cluster", tuple(lines), "\n".join((first, *rest)))


def _there(moment: Moment) -> Line:
    """Brokers, racks, topics and partitions, as far as they have been read."""
    image, down = moment.image, dead_brokers(moment)
    racks = len({broker.rack for broker in image.brokers.values() if broker.rack})
    unsure = len(image.unconfirmed_brokers)
    parts: list[Span] = [*_counted(len(image.brokers) - unsure, "brokers"), span(" up", "dim")]
    parts += [span(f"  {down} DOWN", "error")] if down else []
    parts += [span(f"  {unsure} unconfirmed", "warn")] if unsure else []
    parts += [span("   "), *_counted(racks, "racks")] if racks else []
    return (*parts, span("   "), *_counted(len(image.topics), "topics"), span("   "),
            *_counted(image.partition_count, "partitions"))  # fmt: skip


def _counted(number: int, what: str) -> tuple[Span, Span]:
    return span(f"{number:,}", "strong"), span(f" {what if number != 1 else what[:-1]}", "dim")


def _tiles(moment: Moment, recent: Recent) -> list[Tile]:
    counts = counts_of(moment.image, moment.findings)
    lags, churn = recent.lag(), recent.isr_churn
    lag = lags[-1]
    per_minute = "-" if isnan(churn[-1]) else f"{churn[-1]:,.0f}"
    return [
        *(
            Tile(f"{number:,}", name, short, style, recent.of(count), rank)
            for (count, name, short, style, rank), number in zip(_COUNTS, counts, strict=True)
        ),
        Tile("-" if isnan(lag) else abbreviated(lag), "lag", "lag", "number", lags, 7 if isnan(lag) else 3),
        Tile(per_minute, "ISR changes/min", "ISR churn", "changed", churn, 4),
    ]


_COUNTS = (
    ("offline", "offline", "offline", "error", 0),
    ("under_min_isr", "under min ISR", "under min", "error", 1),
    ("under_replicated", "under-replicated", "under-repl", "warn", 2),
    ("off_preferred", "off-preferred", "off-pref", "changed", 5),
    ("moving", "moving", "moving", "adding", 6),
)
"""For each of Counts: its name, that of a tile, the style of what is above zero, and the tile's rank."""


def abbreviated(number: float) -> str:
    """`12,409`, `1.2M`: at most six cells for anything below ten billion."""
    if number < 100_000:
        return f"{number:,.0f}"
    size, unit = next((size, unit) for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")) if number >= size)
    return f"{number / size:,.1f}{unit}" if number < 100 * size else f"{number / size:,.0f}{unit}"


def _fitting(tiles: Sequence[Tile], room: int) -> tuple[list[Tile], bool]:
    """Those that fit, and whether by their short names: all by their names, or by rank."""
    if sum(len(tile.title(is_short=False)) + GAP for tile in tiles) - GAP <= room:
        return list(tiles), False
    fitting: list[Tile] = []
    for tile in sorted(tiles, key=lambda tile: tile.rank):
        if fitting and sum(len(each.title(is_short=True)) + GAP for each in (*fitting, tile)) - GAP > room:
            break
        fitting.append(tile)
    return [tile for tile in tiles if tile in fitting], True


def _widths(least: Sequence[int], room: int) -> list[int]:
    """As equal as can be; none below its least."""
    widths = list(least)
    for _ in range(room - sum(widths)):
        widths[widths.index(min(widths))] += 1
    return widths


def _drawn(tile: Tile, width: int, height: int, *, is_short: bool) -> list[Line]:
    style = "dim" if tile.number in ("0", "-") else ""
    name = tile.title(is_short=is_short)[len(tile.number) :].ljust(width - len(tile.number))
    values = condensed(tile.series, width)
    most = max((value for value in values if not isnan(value)), default=0)
    least = 2 * most / (8 * height)  # the lowest sign is zero's
    parts = [(0.0 if isnan(value) or not value else max(value, least),) for value in values]
    lines = area(parts, (tile.style,), height, most)
    floor = tuple((LEVELS[1], "rule") if value == 0 else part for value, part in zip(values, lines[-1], strict=True))
    return [line(span(tile.number, style or tile.style), span(name, style)), *lines[:-1], floor]
