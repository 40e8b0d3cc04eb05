"""The fast tier, `pytest -m fast`: tests that start no process and open no connection, for after every change.

Which they are is a table of folders. A test of these folders that starts a process, listens or connects fails, whoever
runs it: its file goes into `NOT_FAST`, or its server into another test.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.whole_run import is_plain

ROOT = Path(__file__).parents[1]

FAST = (
    "tests/model/",
    "tests/tui/data/",
    "tests/architecture/test_documents.py",
    "tests/architecture/test_first_changes.py",
    "tests/architecture/test_supply_chain.py",
    "tests/simulation/test_mutations.py",
)
"""What the names of fast tests' files begin with."""

NOT_FAST = {
    "tests/model/hosts/acting/": "ZooKeeper",
    "tests/model/hosts/client_security/": "openssl, ZooKeeper",
    "tests/model/hosts/kafka_admin/": "listens",
    "tests/model/hosts/live_broker/": "brokers",
    "tests/model/hosts/live_controller/": "listens, ZooKeeper",
    "tests/model/hosts/observing/test_observing.py": "listens",
    "tests/model/hosts/wire/test_limits.py": "listens",
    "tests/model/hosts/wire/test_messages.py": "takes long: every version of every message",
    "tests/model/hosts/wire/test_server.py": "listens",
    "tests/model/hosts/wire/test_without_hypothesis.py": "another Python",
    "tests/model/hosts/zookeeper_consumer/": "ZooKeeper",
    "tests/model/log/records/test_damage_anywhere.py": "takes long: every byte changed",
    "tests/model/log/records/test_crc32c.py": "another Python",
    "tests/model/log/recovery/test_folders_of_real_brokers.py": "takes long: whole folders",
    "tests/model/log/recovery/test_killed_writer.py": "kills a process",
    "tests/model/log/test_log_folder.py": "another Python",
    "tests/model/recordings/test_damaged_pages.py": "takes long: every page damaged",
    "tests/model/recordings/test_recording_live.py": "ZooKeeper",
    "tests/model/sources/coordinator_groups/": "listens",
    "tests/model/sources/kafka/": "listens",
    "tests/model/hosts/quorum/test_active_controller.py": "listens",
    "tests/model/hosts/quorum/test_operator_requests.py": "processes",
    "tests/model/hosts/quorum/test_snapshots.py": "processes",
    "tests/model/hosts/quorum/test_three_voters.py": "processes",
    "tests/model/sources/test_recorded_by_processes.py": "processes",
    "tests/model/sources/quorum/test_cluster_source.py": "listens",
    "tests/model/sources/quorum/test_quorum_source.py": "listens",
    "tests/tui/data/pages/test_forecast.py": "takes long: years are played",
    "tests/tui/data/pages/test_not_forecast.py": "another Python",
    "tests/tui/data/test_link.py": "data processes",
    "tests/tui/data/test_process.py": "data processes",
    "tests/tui/data/test_service.py": "connects",
}
"""Exceptions: what they start or open, or why they take seconds."""

EXPRESSION = "fast"
"""What `-m` says when only this tier is wanted: then no other file is even read."""

FEWER_EXAMPLES = 30
"""Of a property that does not say how many it wants; hypothesis' hundred are for `--all`, and for files by name."""

FORBIDDEN = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn", "subprocess.Popen"}
    | {"socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto"}
)
"""Names of Python's audit events."""


def is_fast(file: str) -> bool:
    """Whether tests in this file, `tests/model/…`, belong to the tier."""
    return file.startswith(FAST) and not file.startswith(tuple(NOT_FAST))


def pytest_configure(config: pytest.Config) -> None:
    """Properties are tried with fewer examples in this tier alone, and in the suite without `--all`."""
    config.addinivalue_line("markers", "fast: starts no process and opens no connection; a table says which they are")
    config.pluginmanager.register(NothingStarted(), "nothing-started")
    if config.option.markexpr == EXPRESSION or is_plain(config):
        settings.register_profile("fast", settings.get_profile("kdrill"), max_examples=FEWER_EXAMPLES)
        settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a fast test cost a run of this tier nothing."""
    if config.option.markexpr != EXPRESSION or not collection_path.is_relative_to(ROOT / "tests"):
        return None
    name = collection_path.relative_to(ROOT).as_posix()
    if collection_path.is_dir():
        return not any(each.startswith(f"{name}/") or f"{name}/".startswith(each) for each in FAST) or None
    return (not is_fast(name)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before `-m` is looked at. What is `thorough` takes long, and is left out as it is of a plain run."""
    files = [path for path in {item.path for item in items} if path.is_relative_to(ROOT)]
    fast = {path for path in files if is_fast(path.relative_to(ROOT).as_posix())}
    for item in items:
        if item.path in fast:
            item.add_marker("fast")
    if config.option.markexpr == EXPRESSION:
        left_out = [item for item in items if item.get_closest_marker("thorough") is not None]
        items[:] = [item for item in items if item.get_closest_marker("thorough") is None]
        config.hook.pytest_deselected(items=left_out)


class NothingStarted:
    """Fails a fast test that starts a process, listens or connects, also where the test's subject hides the error."""

    def __init__(self) -> None:
        self._watches = False
        self._seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _: tuple[Any, ...]) -> None:
        if self._watches and event in FORBIDDEN:
            self._seen.append(event)
            raise RuntimeError(f"{event} in a fast test")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        """Fixtures count, too."""
        return (yield from self._watching(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """The test itself."""
        return (yield from self._watching(item))

    def _watching(self, item: pytest.Item) -> Generator[None]:
        self._seen.clear()
        self._watches = item.get_closest_marker("fast") is not None
        try:
            yield
        finally:
            self._watches = False
        if self._seen:
            pytest.fail(f"not fast, see tests/fast_tier.py: {', '.join(self._seen)}", pytrace=False)
