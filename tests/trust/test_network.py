"""kdrill speaks with the cluster that was named, and with nobody else: no Python process may, and no packet is sent.

Where this machine lets us, all of it runs in a network that has a loopback and nothing more, Java's processes too.
`KDRILL_NETWORKLESS=spark` adds an analysis on Spark, and its two processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust import sentinel
from tests.trust.isolated import can_isolate, run_isolated

ROOT = Path(__file__).parents[2]
PARTS = {"sandbox", "status", "snapshot", "drill", "plan", "preview", "doctor", "dashboard", "browser"}
TEST_NET = "192.0.2.1"
"""An address that nobody has (RFC 5737)."""
TIMEOUT_S = 560
ASKS_ELSEWHERE = f"import socket; socket.create_connection(({TEST_NET!r}, 9092), 1)"

NO_NAMESPACE = "this machine lets us make no network namespace"
needs_isolation = pytest.mark.skipif(not can_isolate(), reason=NO_NAMESPACE)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the sentinel noted, of all Python processes that are started from now on."""
    folder, notes = tmp_path / "sentinel", tmp_path / "elsewhere.txt"
    folder.mkdir()
    shutil.copy(sentinel.__file__, folder / "sitecustomize.py")
    notes.touch()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv(sentinel.NOTES, str(notes))
    return notes


@pytest.mark.thorough  # sandbox, browser and dashboard, all of them once more
@pytest.mark.timeout(600)
def test_all_that_it_does_at_home_works_without_a_network(notes: Path, tmp_path: Path) -> None:
    extra = os.environ.get("KDRILL_NETWORKLESS", "").split()
    command = (sys.executable, "-m", "tests.trust.networkless", str(tmp_path), *extra)
    if can_isolate():
        done, packets = run_isolated(command, TIMEOUT_S)
    else:
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=TIMEOUT_S)
        packets = None
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(done.stdout.split()) == PARTS | ({"spark"} if extra else set())
    assert notes.read_text() == ""
    if packets is None:
        pytest.skip(f"no Python process asked elsewhere, but packets were not counted: {NO_NAMESPACE}")
    assert packets == 0


def test_the_sentinel_sees_and_forbids(notes: Path) -> None:
    words = f"[sys.executable, '-P', '-c', {ASKS_ELSEWHERE!r}]"
    child = f"import subprocess, sys; sys.exit(subprocess.run({words}).returncode)"
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, check=False, text=True, timeout=60)
    assert done.returncode == 1 and "is forbidden here" in done.stderr
    assert notes.read_text().startswith(f"socket.getaddrinfo {TEST_NET!r} by ")


@needs_isolation
def test_the_isolated_network_counts_what_would_leave_it() -> None:
    done, packets = run_isolated((sys.executable, "-c", ASKS_ELSEWHERE))
    assert done.returncode == 1 and "Network is unreachable" in done.stderr
    assert packets == 1
