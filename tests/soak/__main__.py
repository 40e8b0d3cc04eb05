"""`python -m tests.soak --minutes 60`: churn, and a verdict on what was lost and what leaked.

Exit code 0: all is well. Needs Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.progress import telling
from tests.soak.samples import HAS_PROC
from tests.soak.shape import Course, Shape
from tests.soak.soak import Report, Soak

FAULT_S = 20.0
LEAST_MINUTES = 0.2


def main() -> int:
    """Progress on standard error, the verdict on standard output."""
    given = _arguments()
    tell = telling()
    shape = Shape(topics=given.topics, partitions=given.partitions)
    seconds = given.minutes * 60
    course = Course(
        seconds,
        changes_per_s=given.changes,
        check_s=min(60.0, seconds / 5),
        sample_s=min(5.0, seconds / 60),
        screen_s=min(5.0, seconds / 30),
        fault_s=FAULT_S if given.faults else None,
        seed=given.seed,
    )
    with tempfile.TemporaryDirectory(prefix="kdrill-soak-") as folder:
        report = asyncio.run(Soak(shape, course, Path(folder), tell).run())
    for line in table(report):
        print(line)
    if given.json is not None:
        document = {"format": "kdrill.soak/1", "shape": asdict(shape), "course": asdict(course), **asdict(report)}
        given.json.write_text(json.dumps({**document, "passed": report.passed}, indent=1) + "\n")
    return 0 if report.passed else 1


def table(report: Report) -> list[str]:
    """What was measured and what was checked."""
    figures = [f"{name.replace('_', ' '):<40} {value:,.2f}" for name, value in report.figures.items()]
    verdict = [f"{'ok' if each.passed else 'FAILED':<7} {each.what:<40} {each.said}" for each in report.checks]
    return [*figures, f"{'faults':<40} {len(report.faults)}", "", *verdict]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--changes", type=int, default=500, help="a second")
    parser.add_argument("--topics", type=int, default=Shape.topics)
    parser.add_argument("--partitions", type=int, default=Shape.partitions, help="of each topic")
    parser.add_argument("--faults", action="store_true", help="cut, slow, pause and kill, now and then")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write all of it to this file")
    given = parser.parse_args()
    if given.minutes < LEAST_MINUTES:
        parser.error(f"--minutes {given.minutes:g}: give {LEAST_MINUTES:g} or more")
    if min(given.changes, given.partitions, given.topics - Shape.groups) < 1:
        parser.error(f"--changes, --partitions: give 1 or more; --topics: more than {Shape.groups}")
    if not HAS_PROC:
        parser.error("memory, threads and files are read from /proc, which this system has not: take a Linux")
    return given


if __name__ == "__main__":
    sys.exit(main())
