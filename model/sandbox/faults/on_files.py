"""Faults and repairs of a broker's files: a folder that is full, a segment with bytes that fell over."""

import asyncio
import os
from pathlib import Path

from model.broker.settings.fault_keys import LOG_DIR_LIMIT_FILE
from model.log.records.batch import RecordBatch
from model.log.records.scan import scan
from model.log.records.source import SegmentFile
from model.sandbox.errors import SandboxError
from model.sandbox.faults import faults
from model.sandbox.faults.choosing import chosen_broker
from model.sandbox.faults.outcome import FlippedBytes, Outcome, Site

FLIPPED_BYTES = 4


async def fill(site: Site, deed: faults.FillLogDir) -> Outcome:
    """Leave no room."""
    broker = await chosen_broker(site.cluster, deed.broker)
    process = site.cluster.brokers[broker]
    held = await asyncio.to_thread(_size_of, process.folder / "logs")
    limit = held if deed.limit_bytes is None else deed.limit_bytes
    if limit < 0:
        raise SandboxError(f"a limit of {limit} bytes: 0 or more are possible")
    (process.faults / LOG_DIR_LIMIT_FILE).write_text(str(limit))
    text = f"the log folder of broker {broker} takes no more than {limit:,} bytes; it holds {held:,}"
    return Outcome(text, f"broker {broker}", faults.FreeLogDir(broker))


async def free(site: Site, deed: faults.FreeLogDir) -> Outcome:
    """Take the limit away."""
    broker = await chosen_broker(site.cluster, deed.broker)
    file = site.cluster.brokers[broker].faults / LOG_DIR_LIMIT_FILE
    if not file.exists():
        raise SandboxError(f"the log folder of broker {broker} has no limit")
    file.unlink()
    return Outcome(f"the log folder of broker {broker} has room again", f"broker {broker}")


async def corrupt(site: Site, deed: faults.CorruptSegment) -> Outcome:
    """Flip bytes in the middle one of a segment's batches."""
    broker = await chosen_broker(site.cluster, deed.broker)
    flipped = await asyncio.to_thread(_flip, site.cluster.brokers[broker].folder / "logs" / deed.partition, deed)
    site.flipped[broker, deed.partition] = flipped
    text = (
        f"{FLIPPED_BYTES} bytes of {deed.partition}/{Path(flipped.path).name} on broker {broker} are flipped, "
        f"from position {flipped.position}"
    )
    return Outcome(text, f"broker {broker}", faults.RestoreSegment(broker, deed.partition))


async def restore(site: Site, deed: faults.RestoreSegment) -> Outcome:
    """Write the bytes back where they still are as they were left."""
    broker = await chosen_broker(site.cluster, deed.broker)
    flipped = site.flipped.pop((broker, deed.partition), None)
    if flipped is None:
        raise SandboxError(f"nothing was flipped in {deed.partition} of broker {broker}")
    subject = f"broker {broker}"
    if await asyncio.to_thread(_write_back, flipped):
        return Outcome(f"the bytes of {deed.partition} on broker {broker} are as they were", subject)
    return Outcome(f"broker {broker} has replaced what was flipped in {deed.partition} already", subject)


def _flip(folder: Path, deed: faults.CorruptSegment) -> FlippedBytes:
    segments = sorted(folder.glob("*.log"))
    if not segments:
        raise SandboxError(f"{deed.partition} has no segment there: {folder}")
    path = segments[-1] if deed.segment == "last" else segments[0]
    with SegmentFile(path) as source:
        batches = [each for each in scan(source) if isinstance(each, RecordBatch)]
    if not batches:
        raise SandboxError(f"{deed.partition}/{path.name} has no records to spoil")
    batch = batches[len(batches) // 2]
    position = batch.position + batch.size - FLIPPED_BYTES
    file = os.open(path, os.O_RDWR)
    try:
        before = os.pread(file, FLIPPED_BYTES, position)
        after = bytes(byte ^ 0xFF for byte in before)
        os.pwrite(file, after, position)
    finally:
        os.close(file)
    return FlippedBytes(str(path), position, before, after)


def _write_back(flipped: FlippedBytes) -> bool:
    try:
        file = os.open(flipped.path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        if os.pread(file, len(flipped.after), flipped.position) != flipped.after:
            return False
        os.pwrite(file, flipped.before, flipped.position)
    finally:
        os.close(file)
    return True


def _size_of(folder: Path) -> int:
    """Bytes of segments: indexes are larger on paper than on the disk."""
    return sum(file.stat().st_size for file in folder.glob("*/*.log"))
