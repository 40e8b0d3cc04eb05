"""A scan for people to read: totals, then what is wrong with the worst first, then topics by bytes. Prints nothing."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from textwrap import wrap

from model.cluster.words import counted
from spark_tasks.scans.findings import SEVERITY, Severity
from spark_tasks.scans.meanings import MEANINGS
from spark_tasks.scans.result import (
    Finding,
    Measures,
    ScanResult,
    Spread,
    worst,
)
from tui.command_line.scan_tables import WIDTH, log_folders, partition_folders, replicas, size, topics
from tui.text import plain

MOST_FINDINGS = 20
_BAR = 24
_INDENT = 18


def lines(result: ScanResult, *, everything: bool = False) -> Iterator[str]:
    """All of it, fit to print; lists are bounded, and partitions left out, unless `everything` is wanted."""
    yield from _totals(result)
    yield ""
    yield from _findings(result, everything)
    yield ""
    yield from topics(result.topics, everything)
    yield from replicas(result.partitions, everything)
    if len(result.log_folders) > 1 or everything:
        yield ""
        yield from log_folders(result.log_folders, everything)
    if everything:
        yield ""
        yield from partition_folders(result.partitions)


def _totals(result: ScanResult) -> Iterator[str]:
    whole = result.totals
    folders = counted(len(result.log_folders), "log folder")
    yield f"{folders}, {counted(len(result.topics), 'topic')}, {counted(len(result.partitions), 'partition folder')}"
    yield _fact(
        "bytes", f"{size(whole.bytes)} in {counted(whole.segments, 'segment')}, other files {size(whole.other_bytes)}"
    )
    uncounted = f" and those of {counted(whole.uncounted_sets, 'old set')}: --deep" if whole.uncounted_sets else ""
    yield _fact("batches", f"{whole.batches:,} with {counted(whole.records, 'record')}{uncounted}")
    yield _fact("batch fill", f"{_spread(whole.batch_bytes)} bytes")
    yield _fact("", f"{_spread(whole.batch_records)} records")
    yield from _bars("records per batch", whole.batch_records)
    yield _fact("compression", _codecs(whole))
    if result.deep:
        yield _fact("records read", f"{whole.keyless_records:,} without a key, {whole.tombstones:,} without a value")
    if whole.oldest_ms is not None and whole.newest_ms is not None:
        yield _fact("time", f"{_time(whole.oldest_ms)} to {_time(whole.newest_ms)}")
    yield from _time_facts(whole)
    if whole.producers:
        more = "at least " if whole.more_producers else ""
        transactions = f"{_batches(whole.transactional_batches)} in transactions, {whole.control_batches:,} markers"
        yield _fact("producers", f"{more}{counted(whole.producers, 'id')}, {transactions}")
    if whole.gaps:
        yield _fact("offset gaps", f"{whole.gaps:,}, {whole.missing_offsets:,} offsets, compaction's included")


def _time_facts(whole: Measures) -> Iterator[str]:
    facts = (
        (whole.late_batches, f"{_batches(whole.late_batches)} late, by up to {_duration(whole.latest_by_ms)}"),
        (whole.late_segments, f"{counted(whole.late_segments, 'segment')} older than one before them"),
        (whole.future_batches, f"{_batches(whole.future_batches)} in the future"),
        (whole.untimed_batches, f"{_batches(whole.untimed_batches)} without a time"),
    )
    told = [text for number, text in facts if number]
    if told:
        yield _fact("time skew", "; ".join(told))


def _findings(result: ScanResult, everything: bool) -> Iterator[str]:
    if not result.counts:
        yield "nothing is wrong."
        return
    notes = sum(result.counts.values()) - result.damage - result.warnings
    yield f"{result.damage:,} damaged, {counted(result.warnings, 'warning')}, {counted(notes, 'note')}"
    for kind, number in result.counts.items():
        yield f"  {SEVERITY[kind].value:<8} {number:>9,} {kind}"
    wanted = [each for each in result.findings if everything or each.severity is not Severity.NOTE]
    shown = wanted if everything else worst(wanted, MOST_FINDINGS)
    if shown:
        yield ""
        for finding in shown:
            yield from _finding(finding)
        told = {each.kind for each in shown}
        left = sum(
            number for kind, number in result.counts.items() if everything or SEVERITY[kind] is not Severity.NOTE
        )
        if left > len(shown):
            yield f"… {left - len(shown):,} more{'' if everything else ': --all shows more'}"
        yield from _meanings([kind for kind in result.counts if kind in told])


def _finding(finding: Finding) -> Iterator[str]:
    place = "" if finding.position is None else f" at byte {finding.position:,}"
    extent = "" if finding.size is None else f", {counted(finding.size, 'byte')}"
    text = plain(f"{finding.severity.value} {finding.kind}{place}{extent}: {finding.cause}")
    yield from wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    broker = "" if finding.broker is None else f"broker {finding.broker}: "
    yield f"    {broker}{plain(finding.path)}"


def _meanings(kinds: Sequence[str]) -> Iterator[str]:
    """What the kinds mean, those that mean the same together."""
    by_meaning: dict[str, list[str]] = {}
    for kind in kinds:
        if kind in MEANINGS:
            by_meaning.setdefault(MEANINGS[kind], []).append(kind)
    if by_meaning:
        yield ""
        yield "what it means:"
    for meaning, same in by_meaning.items():
        yield from wrap(f"{', '.join(same)}: {meaning}", WIDTH, initial_indent="  ", subsequent_indent="    ")


def _spread(spread: Spread) -> str:
    return f"{spread.smallest:,} to {spread.largest:,}, median {spread.median:,}, mean {spread.mean:,.1f}"


def _bars(name: str, spread: Spread) -> Iterator[str]:
    most = max((number for _, number in spread.histogram), default=0)
    for place, (limit, number) in enumerate(spread.histogram):
        low, high = limit // 2, limit - 1
        span = f"{low:,}" if low >= high else f"{low:,}-{high:,}"
        bar = "█" * max(round(_BAR * number / most), 1)
        yield f"{'' if place else name:<{_INDENT}} {span:>15}  {bar:<{_BAR}} {number:,}"


def _batches(number: int) -> str:
    return counted(number, "batch", "batches")


def _codecs(whole: Measures) -> str:
    total = sum(share.bytes for share in whole.codecs)
    shares = [f"{share.codec} {share.bytes / max(total, 1):.0%}{_times(share.ratio)}" for share in whole.codecs]
    ratio = "" if whole.compression_ratio is None else f"; compressed {whole.compression_ratio:.2f} times smaller"
    return ", ".join(shares) + ratio + " of bytes" * (not ratio)


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f" ({ratio:.1f}x)"


def _fact(name: str, text: str) -> str:
    return "\n".join(wrap(text, WIDTH, initial_indent=f"{name:<{_INDENT}} ", subsequent_indent=" " * (_INDENT + 1)))


def _time(at_ms: int) -> str:
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OverflowError, ValueError, OSError):  # beyond the year 9999
        return f"{at_ms} ms"


def _duration(ms: int) -> str:
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if ms >= length:
            return f"{ms / length:,.1f} {unit}"
    return f"{ms} ms"
