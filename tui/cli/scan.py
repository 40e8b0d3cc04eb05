"""`kdrill scan`: what brokers' log folders hold, how well batches are filled and compressed, and what is damaged.

For people: totals, then what is wrong with the worst first, then tables of topics, partition folders and log folders.
"""

import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from textwrap import wrap
from typing import Any

import click
import msgspec

from model.analyses.scans.combining import SCAN
from model.analyses.scans.findings import MEANINGS, SEVERITY, Severity
from model.analyses.scans.folders import NothingToScanError, ScanParameters, find_logs
from model.analyses.scans.result import (
    Distribution,
    LogFinding,
    LogFolderScan,
    LogMeasures,
    PartitionScan,
    ScanResult,
    TopicScan,
    worst,
)
from model.cluster.texts import counted
from model.log.names import FolderRole
from spark_tasks.spark_client import Engine
from tui.cli.options import compute, takes_engine
from tui.cli.output import more
from tui.engine.text import cells, pad, plain

WIDTH = 80
MOST_ROWS = 30
MOST_APART = 10
_NAME = 20


def topics(topics: Sequence[TopicScan], everything: bool) -> Iterator[str]:
    """The most bytes first."""
    yield from _row("topics by bytes", _HEADINGS)
    shown = topics if everything else topics[:MOST_ROWS]
    for each in shown:
        yield from _row(each.topic, _cells(each.measures), _bad(each.damage, each.warnings))
    if len(shown) < len(topics):
        yield f"… {len(topics) - len(shown):,} more: --all shows them"


def partition_folders(partitions: Sequence[PartitionScan]) -> Iterator[str]:
    """A row for each partition folder."""
    yield from _row("partition folders", _HEADINGS)
    for each in partitions:
        name = each.topic if each.partition < 0 else f"{each.topic}-{each.partition}"
        role = f" ({each.role.value})" if each.role.value else ""
        broker = "" if each.broker is None else f" b{each.broker}"
        yield from _row(name + broker + role, _cells(each.measures), _bad(each.damage, each.warnings))


def replicas(partitions: Sequence[PartitionScan], everything: bool) -> Iterator[str]:
    """Partitions whose replicas do not end alike: who has most, when nobody is left to ask."""
    apart: list[tuple[int, str]] = []
    current = (each for each in partitions if each.role is FolderRole.CURRENT and each.end_offset is not None)
    for (topic, partition), same in groupby(current, key=lambda each: (each.topic, each.partition)):
        most_first = sorted(same, key=lambda each: (-_epoch(each), -(each.end_offset or 0)))
        ends = {each.end_offset or 0 for each in most_first}
        if len(ends) > 1 or len({_epoch(each) for each in most_first} - {-1}) > 1:
            apart.append((max(ends) - min(ends), f"{topic}-{partition}: {', '.join(map(_end, most_first))}"))
    apart.sort(key=lambda each: -each[0])
    if apart:
        yield ""
        yield "replicas with different ends, newest leader epoch and longest log first"
    for _, text in apart if everything else apart[:MOST_APART]:
        yield from wrap(plain(text), WIDTH, initial_indent="  ", subsequent_indent="      ")
    if not everything:
        yield from more(len(apart) - MOST_APART)


def _end(partition: PartitionScan) -> str:
    place = partition.log_folder if partition.broker is None else f"b{partition.broker}"
    epoch = "" if partition.last_epoch is None else f" (epoch {partition.last_epoch})"
    return f"{place} at {partition.end_offset or 0:,}{epoch}"


def _epoch(partition: PartitionScan) -> int:
    return -1 if partition.last_epoch is None else partition.last_epoch


def log_folders(folders: Sequence[LogFolderScan], everything: bool) -> Iterator[str]:
    """Each broker's part."""
    yield "log folders"
    for each in folders if everything else folders[:MOST_ROWS]:
        name = "" if each.broker is None else f"broker {each.broker}: "
        stop = "stopped in order" if each.clean_stop else "in use, or not stopped in order"
        what = f"{size(each.measures.bytes)} in {counted(each.partitions, 'partition')}"
        yield f"  {name}{plain(each.path)}"
        yield "    " + ", ".join(filter(None, (what, stop, _bad(each.damage, each.warnings))))


_HEADINGS = ("bytes", "records", "B/batch", "rec/b", "codec")


def _row(name: str, numbers: Sequence[str], bad: str = "") -> Iterator[str]:
    """A row of at most 80 cells; a name that is too long has a line to itself."""
    name = plain(name)
    if cells(name) > _NAME:
        yield name
        name = ""
    columns = f"{numbers[0]:>10} {numbers[1]:>8} {numbers[2]:>8} {numbers[3]:>7}  {numbers[4]:<11}"
    yield f"{pad(name, _NAME)}{columns} {bad}".rstrip()


def _cells(measured: LogMeasures) -> tuple[str, str, str, str, str]:
    codec = measured.codecs[0].codec if measured.codecs else ""
    if measured.compression_ratio is not None:
        codec = f"{codec} {measured.compression_ratio:.1f}x"
    size_mean, count_mean = measured.batch_bytes.mean, measured.batch_records.mean
    fill = f"{size_mean:,.0f}" if size_mean else "-", f"{count_mean:,.1f}" if count_mean else "-"
    return size(measured.bytes), _short(measured.records), *fill, codec


def _bad(damage: int, warnings: int) -> str:
    return f"{damage:,} damaged" if damage else f"{warnings:,} warned" if warnings else ""


def _short(number: int) -> str:
    """At most six characters: `999,999`, `1.2M`."""
    for unit, length in (("G", 10**9), ("M", 10**6)):
        if number >= length:
            return f"{number / length:,.1f}{unit}"
    return f"{number:,}"


def size(number: int) -> str:
    """Bytes as people say them: `1.5 MiB`."""
    for unit, length in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= length:
            return f"{number / length:,.1f} {unit}"
    return f"{number} B"


MOST_FINDINGS = 20
_BAR = 24
_INDENT = 18


def lines(result: ScanResult, *, everything: bool = False) -> Iterator[str]:
    """The result as text; lists are cut, and partitions left out, unless `everything` is set."""
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


def _time_facts(whole: LogMeasures) -> Iterator[str]:
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


def _finding(finding: LogFinding) -> Iterator[str]:
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


def _spread(spread: Distribution) -> str:
    return f"{spread.smallest:,} to {spread.largest:,}, median {spread.median:,}, mean {spread.mean:,.1f}"


def _bars(name: str, spread: Distribution) -> Iterator[str]:
    most = max((number for _, number in spread.histogram), default=0)
    for place, (limit, number) in enumerate(spread.histogram):
        low, high = limit // 2, limit - 1
        span = f"{low:,}" if low >= high else f"{low:,}-{high:,}"
        bar = "█" * max(round(_BAR * number / most), 1)
        yield f"{'' if place else name:<{_INDENT}} {span:>15}  {bar:<{_BAR}} {number:,}"


def _batches(number: int) -> str:
    return counted(number, "batch", "batches")


def _codecs(whole: LogMeasures) -> str:
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


SOUND, UNREADABLE, DAMAGED = 0, 1, 2
EVERYTHING = 100_000
"""Findings that `--all` shows; the rest is counted."""


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@click.option("--topic", "topics", multiple=True, help="only this topic; may be repeated")
@click.option(
    "--deep", is_flag=True, help="decompress and check records too; slower, and reports the compression ratio"
)
@click.option("--all", "everything", is_flag=True, help="list every finding, topic and partition folder")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.scan/1 object")
@takes_engine
def scan(
    folders: tuple[str, ...], topics: tuple[str, ...], deep: bool, everything: bool, as_json: bool, engine: Engine
) -> int:
    """What log folders contain, and what is damaged. Exits 0 if nothing is, 2 if something is, 1 if files cannot be
    read.

    DIR is a broker's log folder (log.dirs), a partition folder, or a folder with several of these below. Files are
    opened read-only; the broker may be running.

    \b
    Example: kdrill scan /var/kafka-logs
             kdrill scan --deep --topic orders --json /data1/kafka /data2/kafka
    """
    try:
        found = find_logs(folders, topics)
    except NothingToScanError as error:
        raise click.ClickException(str(error)) from None
    parameters = ScanParameters(found, time.time_ns() // 1_000_000, deep=deep)
    if everything:
        parameters = msgspec.structs.replace(parameters, most_findings=EVERYTHING)
    outcome = compute(engine, SCAN, {}, parameters)
    result: ScanResult = outcome.result
    provenance = {"source": folders, "topics": topics, "engine": outcome.engine, "seconds": round(outcome.seconds, 3)}
    if as_json:
        document: dict[str, Any] = msgspec.to_builtins(result)
        click.echo(json.dumps({"format": document.pop("format"), **document, "provenance": provenance}))
    else:
        for line in lines(result, everything=everything):
            click.echo(line)
        click.echo(f"\nscanned in {outcome.seconds:,.1f} s, {outcome.engine}")
    return DAMAGED if result.damage else UNREADABLE if result.unread_files else SOUND
