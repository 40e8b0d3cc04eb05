"""`python -m tests.trust.networkless FOLDER`: all that kdrill does at home, one after the other, with its results.

For a network that leads nowhere: each part has to work there as anywhere. Prints a line for each that did.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.harness.command import in_terminal, kdrill_alone
from tests.harness.sandbox import headless_sandbox
from tests.web.serving import served
from tui.engine.actions import NUMBERS

SMALL = ("--racks", "1", "--topics", "2", "--partitions", "2")


def commands(zookeeper: str, bootstrap: str, folder: Path) -> None:
    """What reads a cluster, by both of its doors, and what works on a snapshot of it."""
    saved = str(folder / "saved.json")
    ran("status", f"zk://{zookeeper}", codes=(0, 2))
    ran("status", f"kafka://{bootstrap}", codes=(0, 2))
    ran("snapshot", f"zk://{zookeeper}", "-o", saved)
    ran("drill", saved, "--kill", "1", codes=(0, 2))
    ran("plan", saved, "--rebalance", "-o", str(folder / "plan.json"), codes=(0, 2))
    ran("preview", saved, codes=(0, 2))
    ran("doctor", codes=(0, 1, 2))


def spark(folder: Path) -> None:
    """A sweep by a Spark of this machine."""
    saved = str(folder / "saved.json")
    said = ran("drill", saved, "--each-broker", "--spark-master", "local[1]", "--json", codes=(0, 2))
    assert json.loads(said)["provenance"]["engine"].startswith("spark"), said
    print("spark", flush=True)


def dashboard(zookeeper: str) -> None:
    """Every screen, in a terminal."""
    with in_terminal(f"zk://{zookeeper}", columns=120, rows=40) as terminal:
        terminal.shows("LIVE")
        for key in NUMBERS:
            terminal.press(key)
            terminal.press("?")
            terminal.shows("Keys on")
            terminal.press("q")
            terminal.until(lambda: "Keys on" not in terminal.text)
        terminal.press("Q")
        assert terminal.exit_code() == 0
    print("dashboard", flush=True)


def browser(zookeeper: str) -> None:
    """The page, which loads nothing from elsewhere, and all that it loads."""
    with served(f"zk://{zookeeper}") as page:
        with urllib.request.urlopen(page.url, timeout=60) as answer:
            places = re.findall(r'(?:src=|href=|url\()"(?!data:)([^"]+)"', answer.read().decode())
        assert places
        for place in places:
            whole = urllib.parse.urljoin(page.url, place)
            assert whole.startswith(f"http://{page.host}/"), whole
            urllib.request.urlopen(whole, timeout=60).close()
    print("browser", flush=True)


def ran(*arguments: str, codes: Sequence[int] = (0,)) -> str:
    done = kdrill_alone(*arguments, environment={"KDRILL_SPARK_MASTER": ""} if "--spark-master" in arguments else None)
    assert done.returncode in codes, (arguments, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    print(arguments[0], flush=True)
    return done.stdout


def main() -> int:
    folder = Path(sys.argv[1])
    with_spark = "spark" in sys.argv[2:]
    brokers = "2" if with_spark else "1"  # somebody has to outlive a sweep
    with headless_sandbox("--load", "--brokers", brokers, *SMALL) as (sandbox, ready):
        print("sandbox", flush=True)
        commands(ready["zookeeper"], ready["bootstrap"], folder)
        dashboard(ready["zookeeper"])
        browser(ready["zookeeper"])
        if with_spark:
            spark(folder)
        sandbox.terminate()
        sandbox.wait(60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
