"""Tables of a scan: topics, partition folders, log folders, and replicas that end apart. Prints nothing."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from model.cluster.words import counted
from model.log.names import FolderRole
from spark_tasks.scans.result import LogFolderScan, Measures, PartitionScan, TopicScan
from tui.text import cells, pad, plain

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
    """Each by itself."""
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
        yield "replicas that end apart, the newest leader epoch and the longest log first"
    for _, text in apart if everything else apart[:MOST_APART]:
        yield from wrap(plain(text), WIDTH, initial_indent="  ", subsequent_indent="      ")
    if len(apart) > MOST_APART and not everything:
        yield f"  … {len(apart) - MOST_APART:,} more: --all shows them"


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


def _cells(measured: Measures) -> tuple[str, str, str, str, str]:
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
