"""What the benchmarks of logs share: segments to read, rivals, and whole processes measured in turns."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.log.records import Codec, Record, encode_batch, stamp
from model.log.records.batch import parse_batch
from model.sandbox.java import java_environment
from tests.benchmarks.figure import Figure
from tests.conformance.kafka.releases import RELEASES, install

NAME = f"{0:020d}.log"
RUNS = 3
_DIFFERENT = 256
_AS_SHIPPED = (
    "-Xmx256M",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
"""What Kafka's own kafka-run-class.sh gives to a tool."""


def write_segment(folder: Path, size: int, records_per_batch: int, codec: Codec = Codec.NONE) -> Path:
    """About `size` bytes of batches; values have 180 bytes, keys 5 to 9. Contents repeat, offsets do not."""
    folder.mkdir(exist_ok=True)
    batches = [encode_batch(_records(n, records_per_batch), codec=codec) for n in range(_DIFFERENT)]
    written = 0
    with (folder / NAME).open("wb") as file:
        for offset in range(0, 2**40, records_per_batch):
            entry = bytearray(batches[offset // records_per_batch % _DIFFERENT])
            stamp(entry, parse_batch(entry, 0, 0), offset + records_per_batch - 1, leader_epoch=0)
            written += file.write(entry)
            if written >= size:
                return folder / NAME
    raise AssertionError


def _records(batch: int, count: int) -> list[Record]:
    text = b"".join(b"%d," % (batch * 7919 + n * n) for n in range(60))[:180]
    keys = [b"key-%d" % (batch * n % 9000) for n in range(count)]
    return [Record(n, 1_700_000_000_000 + n, key, text[n:] + text[:n]) for n, key in enumerate(keys)]


def dump_log_segments(*arguments: str) -> list[str]:
    """Kafka 3.9.1's tool, started as Kafka starts it."""
    kafka = install(RELEASES["3.9.1"])
    log4j = next(flag for flag in kafka.java("", heap_mb=1) if flag.startswith("-Dlog4j"))
    jars = ["-cp", f"{kafka.jars}/*", "kafka.tools.DumpLogSegments"]
    return [str(kafka.java_program), *_AS_SHIPPED, log4j, *jars, *arguments]


def python(code: str, path: Path) -> list[str]:
    """A Python process that runs `code` with the file's path in sys.argv[1]."""
    return [sys.executable, "-P", "-c", code, str(path)]


@dataclass(frozen=True)
class Took:
    """Seconds of the best of several runs of a process; on a busy machine processor time tells more than wall time."""

    wall_s: float
    cpu_s: float


def in_turns(commands: Mapping[str, Sequence[str]], outputs: Path) -> dict[str, Took]:
    """Each whole process run three times, in turns; what it prints goes to a file of its name in `outputs`.

    Python keeps the bytecode of what the first run imports, as it does wherever nobody forbids it: compiling numpy anew
    takes longer than most of what is measured.
    """
    environment = java_environment() | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(outputs / "bytecode")}
    best: dict[str, Took] = {}
    for _ in range(RUNS):
        for name, command in commands.items():
            with (outputs / name).open("wb") as out:
                before, started = _children_cpu_s(), time.perf_counter()
                subprocess.run(command, stdout=out, check=True, env=environment)
                took = Took(time.perf_counter() - started, _children_cpu_s() - before)
            known = best.get(name, took)
            best[name] = Took(min(known.wall_s, took.wall_s), min(known.cpu_s, took.cpu_s))
    return best


def figure(what: str, ours: Took, rival: str, theirs: Took, goal: float | None = None) -> Figure:
    """A figure of wall times, with the ratio of processor times beside it."""
    note = f"processor: {ours.cpu_s:.2f} s, {theirs.cpu_s:.2f} s, {theirs.cpu_s / ours.cpu_s:.1f}x"
    return Figure(what, ours.wall_s, rival, theirs.wall_s, goal, note)


def start_of_rival(folder: Path) -> Figure:
    """How long Kafka's tool takes for an empty file: it is part of every other time of it."""
    empty = folder / "empty" / NAME
    empty.parent.mkdir()
    empty.touch()
    took = in_turns({"start": dump_log_segments("--files", str(empty))}, folder)["start"]
    return Figure("DumpLogSegments, an empty file", took.wall_s, note=f"processor: {took.cpu_s:.2f} s")


def _children_cpu_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
