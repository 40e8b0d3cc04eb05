"""`python -m tests.chaos --faults 200 --seed 1`: random faults on an ensemble of three whose tree changes all the time.

Exit code 0: after every round the followed image was what a fresh load said, LIVE was never a lie for longer than the
bound, nothing was written and nothing leaked. Needs Linux and Java.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.chaos.chaos import Chaos, Course, Report
from tests.progress import telling, told_seed
from tests.soak.samples import HAS_PROC


def main() -> int:
    """Progress on standard error, figures on standard output."""
    given = _arguments()
    tell = telling()
    seed = told_seed(given.seed, tell)
    with tempfile.TemporaryDirectory(prefix="kdrill-chaos-") as folder:
        report = asyncio.run(Chaos(Course(given.faults, seed), Path(folder), tell).run())
    for line in told(report):
        print(line)
    if given.json is not None:
        given.json.write_text(json.dumps(asdict(report), indent=1) + "\n")
    return 1 if report.violations else 0


def told(report: Report) -> list[str]:
    """The figures; where a promise was broken, also the seed, all faults until then, and what was wrong."""
    live, other = report.looks
    figures = {
        "seed": report.seed,
        "faults": f"{report.faults} ({', '.join(f'{kind} {count}' for kind, count in sorted(report.kinds.items()))})",
        "changes": f"{report.changes:,}; {report.marks} more, each as a watch was asked for",
        "comparisons": report.comparisons,
        "violations": len(report.violations),
        "longest until LIVE again": f"{max(report.to_live_s):.1f} s",
        "longest from quiet to the truth": f"{max(report.to_truth_s):.1f} s",
        "longest behind while LIVE": f"{report.most_behind_s:.1f} s; beyond its age {report.most_unsaid_s:.1f} s",
        "looks": f"{live:,} LIVE, {other:,} other",
        "connections, sessions": f"{report.connections}, {report.sessions}",
        "threads, sockets": "; ".join(f"{held.threads}, {held.sockets}" for held in report.held),
    }
    lines = [f"{name:<34} {value}" for name, value in figures.items()]
    if report.violations:
        lines += ["", f"seed {report.seed}", *report.history, "", *report.violations]
    return lines


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="of the faults and of the changes; random if not given")
    parser.add_argument("--json", type=Path, help="also write all of it to this file")
    given = parser.parse_args()
    if given.faults < 1:
        parser.error(f"--faults {given.faults}: give 1 or more")
    if not HAS_PROC:
        parser.error("threads and sockets are read from /proc, which this system has not: take a Linux")
    return given


if __name__ == "__main__":
    sys.exit(main())
