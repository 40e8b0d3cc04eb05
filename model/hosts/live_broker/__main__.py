"""Runs a broker until SIGTERM: `python -m model.hosts.live_broker SERVER.PROPERTIES [--override KEY=VALUE]…`.

It prints two JSON lines on standard output: where it listens, and once it is registered and serves, who it is. All else
goes to standard error.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model.broker.settings.server_properties import ServerProperties, read_server_properties
from model.cluster.whole_file import read_text
from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.hosts.live_broker.live_broker import print_listening, print_ready, run_process
    from model.hosts.live_broker.with_logs import WITH_LOGS


def main() -> int:
    """Exit code 0 after SIGTERM or SIGINT, 1 when it could not start or go on, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m model.hosts.live_broker", description=__doc__)
    parser.add_argument("properties", type=Path, metavar="SERVER.PROPERTIES")
    parser.add_argument("--override", action="append", default=[], metavar="KEY=VALUE", help="stands above the file")
    given = parser.parse_args()
    try:
        read = _read(given.properties, given.override)
    except OSError as error:
        print(f"kdrill broker: {given.properties}: {error.strerror}", file=sys.stderr)
        return 1
    for line in (*read.remarks, *read.refusals):
        print(f"kdrill broker: {line}", file=sys.stderr)
    return 1 if read.refusals else run_process(read.settings, WITH_LOGS, print_listening, print_ready)


def _read(file: Path, overrides: Sequence[str]) -> ServerProperties:
    text = read_text(file, "iso-8859-1")  # Java's properties are
    return read_server_properties(text, str(file), overrides)


if __name__ == "__main__":
    sys.exit(main())
