"""`python -m tests.voter_faults --rounds 20 --seed 1`: voters of ours under real brokers, killed, paused, restarted.

Exit code 0: no record that a producer was acknowledged is lost, no topic and no setting that an operator was, and no
batch of the metadata log that was once committed; and no broker's log has an error. With `--real` the voters are
Kafka's, too: what their brokers complain of then is what any do. Needs Java and Maven.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.conformance.kafka.releases import NEWEST, RELEASES, install
from tests.harness.complaints import alike
from tests.progress import telling, told_seed
from tests.voter_faults.playing import Report, VoterFaults, three_and_three


def main() -> int:
    """Progress on standard error, figures on standard output."""
    given = _arguments()
    tell = telling()
    seed = told_seed(given.seed, tell)
    release = NEWEST if given.release == NEWEST.version else RELEASES[given.release]
    with (
        tempfile.TemporaryDirectory(prefix="kdrill-voters-") as folder,
        three_and_three(install(release), Path(folder), real=given.real) as cluster,
    ):
        report = asyncio.run(VoterFaults(cluster, seed, tell).play(given.rounds))
    for line in told(report):
        print(line)
    return 1 if report.losses or report.complaints else 0


def told(report: Report) -> list[str]:
    """The figures; then what was lost."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.kinds.items()))
    figures = {
        "seed": report.seed,
        "rounds": f"{report.kinds.total()} ({kinds})",
        "records acknowledged": report.records,
        "topics and settings acknowledged": report.changes,
        "metadata batches committed": report.batches,
        "epochs": report.epochs,
        "longest without a controller": f"{report.most_silent_s:.1f} s",
        "losses": len(report.losses),
        "errors in brokers' logs": len(report.complaints),
    }
    alike_ones = Counter(map(alike, report.complaints))
    errors = [f"{count} times: {line}" for line, count in alike_ones.most_common()]
    return [*(f"{name:<34} {value}" for name, value in figures.items()), *report.losses, *errors]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.voter_faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="of the faults; random if not given")
    parser.add_argument("--release", choices=("3.9.1", NEWEST.version), default=NEWEST.version)
    parser.add_argument("--real", action="store_true", help="Kafka's own voters, to compare with")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: give 1 or more")
    return given


if __name__ == "__main__":
    sys.exit(main())
