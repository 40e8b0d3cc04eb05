"""Run histories by hand: `python -m tests.simulation --seed N --trace`, or `--histories 100000 --processes 2`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.history import History, run
from tests.simulation.scenario import scenario_of
from tests.simulation.trace import lines
from tests.simulation.violation import ViolationError

CHUNK = 200


def main() -> int:
    """0: every promise was kept."""
    arguments = _arguments()
    if arguments.seed is not None:
        return _replay(arguments.seed, trace=arguments.trace)
    started = time.monotonic()
    seeds = range(arguments.first, arguments.first + arguments.histories)
    done, failures = 0, 0
    for count, found in _all(seeds, arguments.processes):
        done, failures = done + count, failures + len(found)
        for failure in found:
            print(failure, flush=True)
        if done % 5_000 < CHUNK:
            print(f"{done} histories, {failures} failed, {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(f"{done} histories, {failures} failed, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


def _replay(seed: int, *, trace: bool) -> int:
    history = History(scenario_of(seed))
    failure = ""
    try:
        history.run()
    except ViolationError as violation:
        failure = str(violation)
    if trace:
        for line in lines(history):
            print(line)
    print(f"seed {seed}: {failure or 'every promise was kept'}; {history.steps} steps")
    return 1 if failure else 0


def _all(seeds: range, processes: int) -> Iterable[tuple[int, list[str]]]:
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    if processes == 1:
        yield from map(_run_chunk, chunks)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_run_chunk, chunks)


def _run_chunk(seeds: range) -> tuple[int, list[str]]:
    failures: list[str] = []
    for seed in seeds:
        try:
            run(seed)
        except ViolationError as violation:
            failures.append(str(violation))
    return len(seeds), failures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="replay one history")
    parser.add_argument("--trace", action="store_true", help="with --seed: print what happened")
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
