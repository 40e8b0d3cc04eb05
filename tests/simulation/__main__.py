"""Run histories by hand: `python -m tests.simulation --kind K --seed N --trace`, or `--histories 100000 --processes 2`.

Kinds: `controller` (the control plane alone), `replication` (with brokers' logs, producers and consumers), `groups`
(with consumer groups), `raft` (voters of a KRaft quorum), `all` (each for its part of the histories).
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import NamedTuple

from tests.simulation.violation import ViolationError

CHUNK = 200
KINDS = {
    "controller": "tests.simulation.play",
    "replication": "tests.simulation.replication.play",
    "groups": "tests.simulation.groups.play",
    "raft": "tests.simulation.raft.play",
}
"""Modules with `play(seed)`, which gives the number of steps or raises ViolationError, and `tell(seed)`: the lines."""


class Chunk(NamedTuple):
    """Seeds of one kind."""

    kind: str
    seeds: range


class Played(NamedTuple):
    """What came of a chunk."""

    histories: int
    steps: int
    failures: list[str]


def main() -> int:
    """0: every promise was kept."""
    arguments = _arguments()
    kinds = list(KINDS) if arguments.kind == "all" else [arguments.kind]
    if arguments.seed is not None:
        return max([_replay(kind, arguments.seed, trace=arguments.trace) for kind in kinds])
    started = time.monotonic()
    chunks = list(_chunks(kinds, arguments.first, arguments.histories))
    done, steps, failures = 0, 0, 0
    for played in _all(chunks, arguments.processes):
        done, steps, failures = done + played.histories, steps + played.steps, failures + len(played.failures)
        for failure in played.failures:
            print(failure, flush=True)
        if done % 1_000 < CHUNK:
            print(_summary(done, steps, failures, started), file=sys.stderr, flush=True)
    print(_summary(done, steps, failures, started))
    return 1 if failures else 0


def _summary(done: int, steps: int, failures: int, started: float) -> str:
    return f"{done} histories, {steps} steps, {failures} failed, {time.monotonic() - started:.0f} s"


def _replay(kind: str, seed: int, *, trace: bool) -> int:
    if trace:
        tell: Callable[[int], Iterator[str]] = import_module(KINDS[kind]).tell
        for line in tell(seed):
            print(line)
    played = _play(Chunk(kind, range(seed, seed + 1)))
    for failure in played.failures:
        print(failure)
    if not played.failures:
        print(f"seed {seed}: every promise was kept; {played.steps} steps")
    return 1 if played.failures else 0


def _chunks(kinds: list[str], first: int, histories: int) -> Iterator[Chunk]:
    for number, kind in enumerate(kinds):
        part = range(number * histories // len(kinds), (number + 1) * histories // len(kinds))
        end = first + len(part)
        for start in range(first, end, CHUNK):
            yield Chunk(kind, range(start, min(start + CHUNK, end)))


def _all(chunks: list[Chunk], processes: int) -> Iterable[Played]:
    if processes == 1:
        yield from map(_play, chunks)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_play, chunks)


def _play(chunk: Chunk) -> Played:
    play: Callable[[int], int] = import_module(KINDS[chunk.kind]).play
    steps, failures = 0, list[str]()
    gc.disable()  # histories leave few cycles, and looking for them takes a tenth of the time
    for seed in chunk.seeds:
        try:
            steps += play(seed)
        except ViolationError as violation:
            failures.append(str(violation))
    gc.collect()
    return Played(len(chunk.seeds), steps, failures)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=(*KINDS, "all"), default="controller")
    parser.add_argument("--seed", type=int, help="replay one history")
    parser.add_argument("--trace", action="store_true", help="with --seed: print what happened")
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
