"""`python -m tests.kraft_forecasts --drills 40 --seed 1`: random drills on real KRaft clusters, as they were forecast.

Exit code 0: leader, ISR, both epochs, ELR and last known ELR of every partition were, after every step, what the drill
said before the first. Needs Java and Maven.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import NEWEST, RELEASES, Release, install
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.playing import RandomDrills, Report
from tests.progress import telling, told_seed

ELR = "eligible.leader.replicas.version"


def release(version: str) -> Release:
    """Those between what the tests run have the newest one's commands."""
    artifacts = tuple(artifact.replace(NEWEST.version, version) for artifact in NEWEST.artifacts)
    return RELEASES.get(version) or replace(NEWEST, version=version, artifacts=artifacts)


def main() -> int:
    """Progress on standard error, figures on standard output."""
    given = _arguments()
    tell = telling()
    seed = told_seed(given.seed, tell)
    until_s = time.monotonic() + given.minutes * 60
    features = {"": (), "on": (f"{ELR}=1",), "off": (f"{ELR}=0",), "switched": (f"{ELR}=0",)}[given.elr]
    with (
        tempfile.TemporaryDirectory(prefix="kdrill-forecasts-") as folder,
        KraftCluster(install(release(given.release)), Path(folder), size=5, voters=3, features=features) as cluster,
    ):

        def switch() -> None:
            tell("eligible leader replicas are switched on")
            Commands(cluster).upgrade_feature(f"{ELR}=1")

        playing = RandomDrills(cluster, seed, tell)
        report = playing.play(given.drills, until_s, switch if given.elr == "switched" else None)
    for line in told(report):
        print(line)
    return 1 if report.missed else 0


def told(report: Report) -> list[str]:
    """The figures, and what did not come true."""
    figures = {
        "seed": report.seed,
        "drills that came true": report.came_true,
        "steps": ", ".join(f"{kind} {count}" for kind, count in sorted(report.steps.items())),
        "states of partitions compared": f"{report.partitions:,}",
        "drills disturbed by a slow machine": report.disturbed,
        "drills that did not come true": len(report.missed),
    }
    return [*(f"{name:<36} {value}" for name, value in figures.items()), *report.missed]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kraft_forecasts", description=__doc__)
    parser.add_argument("--drills", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=600.0, help="no drill begins later")
    parser.add_argument("--seed", type=int, default=None, help="of topics and acts; random if not given")
    parser.add_argument("--release", choices=("3.9.1", "4.0.0", "4.1.0", NEWEST.version), default=NEWEST.version)
    elr = "eligible leader replicas from the start, never, or from half of the drills on; else as the release has them"
    parser.add_argument("--elr", choices=("on", "off", "switched"), default="", help=elr)
    given = parser.parse_args()
    if given.drills < 1:
        parser.error(f"--drills {given.drills}: give 1 or more")
    return given


if __name__ == "__main__":
    sys.exit(main())
