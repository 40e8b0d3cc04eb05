"""`python -m tests.read_only --keys 3600`: an hour's worth of keys in three sessions, and not one write.

One session on a ZooKeeper, one on brokers, one on brokers with leave to write, in which nothing is confirmed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.progress import telling, told_seed
from tests.read_only.clusters import Counted, counted_brokers, counted_tree
from tests.read_only.session import Report, press_keys

ZOOKEEPER, BROKERS, WRITABLE = "zookeeper", "brokers", "brokers-writable"
SESSIONS = (ZOOKEEPER, BROKERS, WRITABLE)


def main() -> int:
    """Exit code 0 if nothing was written."""
    parser = argparse.ArgumentParser(prog="python -m tests.read_only", description=__doc__)
    parser.add_argument("--keys", type=int, default=3_600, help="of each session")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--session", choices=SESSIONS, action="append", help="only this one; may be given again")
    given = parser.parse_args()
    seed = told_seed(given.seed, telling())
    reports: list[Report] = []
    with tempfile.TemporaryDirectory(prefix="kdrill-read-only-") as folder:
        os.environ.update(XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder, KDRILL_CONFIG=os.devnull)
        os.chdir(folder)  # exports go there
        for number, name in enumerate(given.session or SESSIONS):
            with _counted(name) as counted:
                pressed = press_keys(counted, given.keys, seed + number, allow_writes=name == WRITABLE)
                reports.append(_told(name, asyncio.run(pressed)))
    return 1 if any(report.writes for report in reports) else 0


@contextmanager
def _counted(name: str) -> Iterator[Counted]:
    if name == ZOOKEEPER:
        with counted_tree() as tree:
            yield tree.counted
    else:
        with counted_brokers() as brokers:
            yield brokers


def _told(name: str, report: Report) -> Report:
    seconds = time.process_time()
    print(f"{name}: {report.keys:,} keys, {report.quits} of them to quit, CPU so far {seconds:.0f} s")
    print(f"  asked: {', '.join(f'{what} {count:,}' for what, count in report.asked.most_common())}")
    print(f"  writes: {dict(report.writes) or 'none'}", flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main())
