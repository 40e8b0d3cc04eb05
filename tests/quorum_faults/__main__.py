"""`python -m tests.quorum_faults --faults 200 --seed 1`: random faults on a real quorum of three that kdrill follows.

Exit code 0: after every round the image was what Kafka's own tools and a fresh load say, and LIVE was never said for
longer than the bound of an image without what was acknowledged. Needs Java and Maven.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.conformance.kafka.releases import NEWEST, RELEASES, install
from tests.harness.kraft import KraftCluster
from tests.progress import telling, told_seed
from tests.quorum_faults.playing import UPGRADES, QuorumFaults, Report


def main() -> int:
    """Progress on standard error, figures on standard output."""
    given = _arguments()
    tell = telling()
    seed = told_seed(given.seed, tell)
    until_s = time.monotonic() + given.minutes * 60
    is_upgraded = given.release == NEWEST.version
    with (
        tempfile.TemporaryDirectory(prefix="kdrill-quorum-") as folder,
        KraftCluster(
            install(NEWEST if is_upgraded else RELEASES[given.release]),
            Path(folder),
            size=3 + given.brokers,
            voters=3,
            counts_controllers=True,
            as_release="4.0" if is_upgraded else "",
        ) as cluster,
    ):
        playing = QuorumFaults(cluster, seed, tell, upgrades=UPGRADES if is_upgraded else (), only=given.only)
        try:
            asyncio.run(playing.play(given.faults, until_s))
        finally:
            for line in told(playing.report):
                print(line)
    return 1 if playing.report.violations else 0


def told(report: Report) -> list[str]:
    """The figures; where a promise was broken, also all faults until then, and what was wrong."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.kinds.items()))
    figures = {
        "seed": report.seed,
        "faults": f"{report.faults} ({kinds})",
        "changes": report.changes,
        "comparisons": report.comparisons,
        "deposed leaders' tails": f"{report.tails}, {report.truncated} of them truncated when looked at",
        "violations": len(report.violations),
        "longest from quiet to the truth": f"{max(report.to_truth_s, default=0.0):.1f} s",
        "longest behind while LIVE": f"{report.acknowledged.most_behind_s:.2f} s",
        "looks": ", ".join(f"{count:,} {phase}" for phase, count in report.looks.most_common()),
    }
    lines = [f"{name:<34} {value}" for name, value in figures.items()]
    return [*lines, "", *report.history, "", *report.violations] if report.violations else lines


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.quorum_faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=600.0, help="no round begins later")
    parser.add_argument("--seed", type=int, default=None, help="of faults and changes; random if not given")
    parser.add_argument("--release", choices=("3.9.1", NEWEST.version), default=NEWEST.version)
    parser.add_argument("--only", nargs="*", default=(), metavar="KIND", help="such as `unclean tail`")
    parser.add_argument("--brokers", type=int, default=1, help="beside the three nodes that vote and are brokers, too")
    given = parser.parse_args()
    if given.faults < 1:
        parser.error(f"--faults {given.faults}: give 1 or more")
    return given


if __name__ == "__main__":
    sys.exit(main())
