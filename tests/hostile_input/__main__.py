"""`python -m tests.hostile_input --cases 100000 --processes 2`: broken input of every kind, and what became of it.

A failure is told with its seed and number; `--target NAME --seed N --case NUMBER` plays it again, and `--keep FILE`
writes its bytes. Exit code 0: nothing failed. Needs Linux.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.hostile_input.catalogue import TARGETS
from tests.hostile_input.playing import Played
from tests.hostile_input.processes import play_in_processes

MOST_TOLD = 20


def main() -> int:
    """Failures on standard error as they are found, the table on standard output."""
    given = _arguments()
    if given.case is not None:
        return _replay(given)
    is_well = True
    print(
        f"{'target':<20} {'cases':>9} {'failed':>7} {'slowest':>9} {'case':>9} {'most MiB':>9} {'CPU s':>8}", flush=True
    )
    for name in given.target or TARGETS:
        began_s = time.process_time()
        played, cpu_s = play_in_processes(TARGETS[name], given.seed, given.cases, given.processes)
        _tell(played, given.seed)
        took = f"{played.slowest_s * 1000:,.0f} ms"
        cpu_s += time.process_time() - began_s
        row = f"{name:<20} {played.cases:>9,} {len(played.failures):>7,} {took:>9} {played.slowest:>9}"
        print(f"{row} {played.most_mib:>9.1f} {cpu_s:>8.0f}", flush=True)
        is_well &= not played.failures
    return 0 if is_well else 1


def _tell(played: Played, seed: int) -> None:
    for failed in played.failures[:MOST_TOLD]:
        place = f"--target {played.target} --seed {seed} --case {failed.number}"
        print(f"FAILED {place}: {failed.why}", file=sys.stderr, flush=True)


def _replay(given: argparse.Namespace) -> int:
    """The case in this process and without bounds, so that a debugger can follow."""
    target = TARGETS[given.target[0]]
    case = target.case(given.seed, given.case)
    if given.keep is not None:
        given.keep.write_bytes(case)
    print(f"{len(case):,} bytes: {case[:2_000]!r}")
    with tempfile.TemporaryDirectory(prefix="kdrill-hostile-") as folder:
        target.judge(case, Path(folder))
    print("nothing failed")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile_input", description=__doc__)
    parser.add_argument("--target", action="append", choices=TARGETS, help="one or more; all by default")
    parser.add_argument("--cases", type=int, default=100_000, help="of each target")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="play this one only, of the one target that is named")
    parser.add_argument("--keep", type=Path, help="with --case: write its bytes to this file")
    given = parser.parse_args()
    if given.case is not None and len(given.target or ()) != 1:
        parser.error("--case: name its target with --target")
    if min(given.cases, given.processes) < 1:
        parser.error("--cases, --processes: give 1 or more")
    return given


if __name__ == "__main__":
    sys.exit(main())
