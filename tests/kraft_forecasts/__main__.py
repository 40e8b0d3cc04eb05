"""`python -m tests.kraft_forecasts --drills 40 --seed 1`: random drills on real KRaft clusters, as they were forecast.

With `--matrix` every case once, instead: who dies, stops and starts in which order, over topics of every sort.
Exit code 0: leader, ISR, both epochs, ELR and last known ELR of every partition were, after every step, what the drill
said before the first. Needs Java and Maven.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import NEWEST, RELEASES, Release, install
from tests.harness.complaints import alike, errors_in
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.matrix import CASES, SETTINGS, Matrix, Outcome
from tests.kraft_forecasts.playing import RandomDrills, Report
from tests.model.kraft_controller.replayed import Replayed, log_of, replay
from tests.progress import Tell, telling, told_seed

ELR = "eligible.leader.replicas.version"


def release(version: str) -> Release:
    """Those between what the tests run have the newest one's commands."""
    artifacts = tuple(artifact.replace(NEWEST.version, version) for artifact in NEWEST.artifacts)
    return RELEASES.get(version) or replace(NEWEST, version=version, artifacts=artifacts)


def main() -> int:
    """Progress on standard error, figures on standard output."""
    given, tell = _arguments(), telling()
    features = {"": (), "on": (f"{ELR}=1",), "off": (f"{ELR}=0",), "switched": (f"{ELR}=0",)}[given.elr]
    kafka, settings = install(release(given.release)), SETTINGS if given.matrix else ""
    with (
        tempfile.TemporaryDirectory(prefix="kdrill-forecasts-") as folder,
        KraftCluster(kafka, Path(folder), size=5, voters=3, features=features, settings=settings) as cluster,
    ):
        return _every_case(cluster, given, tell) if given.matrix else _random(cluster, given, tell)


def _random(cluster: KraftCluster, given: argparse.Namespace, tell: Tell) -> int:
    seed = told_seed(given.seed, tell)
    until_s = time.monotonic() + given.minutes * 60

    def switch() -> None:
        tell("eligible leader replicas are switched on")
        Commands(cluster).upgrade_feature(f"{ELR}=1")

    report = RandomDrills(cluster, seed, tell).play(given.drills, until_s, switch if given.elr == "switched" else None)
    for line in told(report):
        print(line)
    return 1 if report.missed else 0


def _every_case(cluster: KraftCluster, given: argparse.Namespace, tell: Tell) -> int:
    matrix = Matrix(cluster, tell)
    outcomes = {case.name: matrix.play(case) for case in CASES if re.search(given.cases, case.name)}
    print(f"{given.release}, eligible leader replicas {given.elr or 'as the release has them'}")
    replayed = _replayed(cluster, given.release)
    for line in (*told_cases(outcomes), *told_log(replayed), *told_errors(cluster)):
        print(line)
    return 0 if all(outcome.came_true for outcome in outcomes.values()) and not replayed.unexplained else 1


def _replayed(cluster: KraftCluster, version: str) -> Replayed:
    major, minor, _ = version.split(".")
    return replay(log_of(cluster.metadata_folder(cluster.voters[0])), (int(major), int(minor)))


def told_cases(outcomes: dict[str, Outcome]) -> Iterator[str]:
    """A line for each, then what there was among them, and what did not come true."""
    for name, outcome in outcomes.items():
        verdict = "came true" if outcome.came_true else "NOT AS FORECAST" if outcome.differences else "REFUSED"
        yield f"{name:<56} {outcome.states:>5} states  {outcome.refused} refused  {verdict}"
    seen = sum((outcome.seen for outcome in outcomes.values()), Counter[str]())
    states = sum(outcome.states for outcome in outcomes.values())
    yield f"{states:,} states of partitions compared: " + ", ".join(f"{count:,} {what}" for what, count in seen.items())
    yield from (f"{name}:\n{outcome.differences}" for name, outcome in outcomes.items() if outcome.differences)


def told_log(replayed: Replayed) -> Iterator[str]:
    """What set off the changes of partitions in all of the log, and which of them no rule explains."""
    causes = ", ".join(f"{count:,} {name}" for name, count in replayed.changes.most_common())
    yield f"{replayed.changes.total():,} changes of partitions in the log: {causes}"
    yield f"{len(replayed.unexplained)} records without a cause"
    yield from (f"offset {offset}: {record}" for offset, record in replayed.unexplained[:10])


def told_errors(cluster: KraftCluster) -> Sequence[str]:
    """What the nodes called an error meanwhile, with nobody of ours among them."""
    found = Counter(alike(line) for node in cluster.nodes for line in errors_in(cluster.log(node)))
    return [f"{count:>5} times an error: {line}" for line, count in found.most_common()]


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


def _version(text: str) -> str:
    if text not in RELEASES and not re.fullmatch(r"4\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text}: give 3.9.1, or a release from 4.0.0 on")
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kraft_forecasts", description=__doc__)
    parser.add_argument("--drills", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=600.0, help="no drill begins later")
    parser.add_argument("--seed", type=int, default=None, help="of topics and acts; random if not given")
    parser.add_argument("--release", type=_version, default=NEWEST.version, help="3.9.1, or any from 4.0.0 on")
    elr = "eligible leader replicas from the start, never, or from half of the drills on; else as the release has them"
    parser.add_argument("--elr", choices=("on", "off", "switched"), default="", help=elr)
    parser.add_argument("--matrix", action="store_true", help="every case once; no seed, no random drills")
    parser.add_argument("--cases", default="", metavar="TEXT", help="with --matrix: only those whose name has it")
    given = parser.parse_args()
    if given.drills < 1:
        parser.error(f"--drills {given.drills}: give 1 or more")
    return given


if __name__ == "__main__":
    sys.exit(main())
