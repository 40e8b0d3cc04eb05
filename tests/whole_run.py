"""What a run of the whole suite leaves out unless asked, and what it says at its start: how many tests, and what
they wait for.

Whoever names a file, a folder or a mark gets what was named.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.workermanage import WorkerController

from model.sandbox.java import find_java
from model.sandbox.processes import SandboxError

ALL = "--all"
SHARE = "--share"
"""2/5: of what is more of the same the second of five parts, by files. The others are for other runs."""

INSTRUMENTS = (
    "tests/chaos/",
    "tests/killed_anywhere/",
    "tests/kraft_rounds/",
    "tests/pty/test_terminal_benchmark.py",
    "tests/read_only/",
    "tests/sandbox_rounds/",
    "tests/search/",
    "tests/server_load/",
    "tests/soak/",
)
"""Short forms of programs that run for as long as one likes, `python -m tests.soak` for one."""

FURTHER_WAYS = {
    "tests/architecture/test_rerun.py": "what repeats failed tests in .ci/run",
    "tests/architecture/test_whole_run.py": "this module, by suites of their own",
    "tests/conformance/test_scenarios.py::test_every_step_passes_and_the_feed_says_why[kdrill sandbox --scenario f": (
        "its screen is watched while it passes"
    ),
    "tests/conformance/test_scenarios.py::test_every_step_passes_and_the_feed_says_why[kdrill sandbox --scenario s": (
        "its screen is watched while it passes"
    ),
    "tests/hostile_input/test_bombs.py": "sizes; what is damaged is tried anyway",
    "tests/mutation/": "what changes rules to see tests fail",
    "tests/model/hosts/live_broker/test_in_kraft.py::test_nothing_acknowledged": "tests/kraft_rounds do the same",
    "tests/packaging/": "what is installed; a plain run has what is checked out",
    "tests/pty/test_clusters.py": "clusters are switched without a terminal, too",
    "tests/pty/test_ending.py::test_a_signal": "signals to commands are tried anyway",
    "tests/pty/test_remembered.py": "what is remembered is tried without a terminal, too",
    "tests/pty/test_spark.py": "a lost Spark is tried without a terminal, too",
    "tests/pty/test_terminals.py::test_a_poor_terminal": "the page is drawn in ASCII without a terminal, too",
    "tests/pty/test_terminals.py::test_a_server_that_dies": "the same without a terminal is in tests/zookeeper",
    "tests/pty/test_terminals.py::test_a_storm_of_sizes": "sizes are tried one by one",
    "tests/pty/test_terminals.py::test_no_colour_at_all": "the page is drawn without colours without a terminal, too",
    "tests/pty/test_tour.py": "the tour is taken without a terminal, too",
    "tests/sandbox/test_class_archive.py": "a start that is only quicker",
    "tests/sandbox/test_guide.py::test_a_sandbox_starts_as_asked_and_leaves_what_is_to_be_kept[kdrill sandbox --b": (
        "more brokers and ZooKeepers; fewer are started anyway"
    ),
    "tests/sandbox/test_guide.py::test_a_scenario": "those that are shipped are played in .ci/run",
    "tests/sandbox/test_large_demo.py": "the demo is tried when it is small",
    "tests/sandbox/test_sandbox_faults.py::test_a_controller_killed_at_a_step": "it is killed anywhere in .ci/run",
    "tests/simulation/groups/test_mutations.py": "rules broken to see a promise fail",
    "tests/simulation/raft/test_mutations.py": "rules broken to see a promise fail",
    "tests/simulation/replication/test_mutations.py": "rules broken to see a promise fail",
    "tests/spark/dashboard/test_engines.py::test_an_idle_spark": "Spark is started once more, which takes long",
    "tests/spark/dashboard/test_engines.py::test_work_that_is_under_way": "the same with Spark that serves is tried",
    "tests/trust/test_secrets_in_browsers.py": "another place of the same secrets",
    "tests/trust/test_secrets_of_logins.py": "another place of the same secrets",
    "tests/trust/test_secrets_of_spark.py": "another place of the same secrets",
    "tests/trust/test_secrets_of_the_dashboard.py": "another place of the same secrets",
    "tests/tui/command_line/test_engine_options.py::test_a_commands_spark": "Spark is started once more",
    "tests/tui/command_line/test_engine_options.py::test_on_spark": "Spark is started once more, which takes long",
    "tests/tui/command_line/test_unwritten.py": "a full disk is tried in tests/trust",
    "tests/tui/command_line/test_waiting_for_a_file.py::test_a_signal_ends_it[1-": "a signal more",
    "tests/tui/command_line/test_waiting_for_a_file.py::test_a_signal_ends_it[15-": "a signal more",
    "tests/tui/guides/test_worked_guides.py::test_every_command_of_the_guide_prints_what_is_shown[d": "a guide more",
    "tests/tui/guides/test_worked_guides.py::test_every_command_of_the_guide_prints_what_is_shown[h": "a guide more",
    "tests/tui/guides/test_worked_guides.py::test_every_command_of_the_guide_prints_what_is_shown[l": "a guide more",
    "tests/tui/guides/test_worked_guides.py::test_every_command_of_the_guide_prints_what_is_shown[p": "a guide more",
    "tests/tui/test_kraft_words.py::test_no_screen": "each screen with the words of KRaft",
    "tests/web/": "the same dashboard in Chromium",
    "tests/zookeeper/test_ensemble.py": "one server more",
    "tests/zookeeper/test_reading_over_tls.py": "the same reading over TLS",
    "tests/zookeeper/test_source_convergence.py": "faults by the dozen; each is tried anyway",
}
"""What costs most among tests that see again, in another way, what other tests see: `thorough` (by names' beginnings),
and why a plain run can do without."""

ONLY_WHEN_ASKED = {
    "conformance": "compare with real Kafka and old ZooKeepers, fetched by Maven",
    "instrument": "are short forms of soak, chaos and the like",
    "thorough": "are more of the same: further seeds, sizes and ways",
}
"""Marks that a run of the whole suite leaves out, and what their tests do."""

WAITS_FOR = {"tests/spark/": "Spark", "tests/pty/": "terminals", "tests/web/": "Chromium"}
"""By what their names begin with."""

ZOOKEEPERS = frozenset({"zookeeper", "zookeeper_server", "own_zookeeper"})
"""Fixtures that start one."""

COUNTS, WHOLE = "kdrill_counts", "kdrill_whole"
"""What xdist's processes are given: where to write what they counted, and whether the suite was asked for."""


def is_whole(config: pytest.Config) -> bool:
    """Whether the suite was asked for, and no part of it. One of xdist's processes has been told."""
    if inputs := getattr(config, "workerinput", None):
        return inputs[WHOLE]
    asked = config.option.markexpr or config.option.keyword
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not asked


def is_plain(config: pytest.Config) -> bool:
    """Whether it was asked for without `--all`."""
    return is_whole(config) and not config.getoption(ALL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks instruments and further ways, and leaves out what was not asked for."""
    share, further = config.getoption(SHARE), tuple(FURTHER_WAYS)
    for item in items:
        if item.nodeid.startswith(INSTRUMENTS):
            item.add_marker("instrument")
        elif item.nodeid.startswith(further):
            item.add_marker("thorough")
    left_out: list[pytest.Item] = []
    if is_plain(config):
        left_out = [item for item in items if _marks(item)]
    elif share:
        left_out = [item for item in items if "thorough" in _marks(item) and not is_of(item.nodeid, share)]
    if left_out:
        ids = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in ids]
        config.hook.pytest_deselected(items=left_out)
    config.stash[_COUNTS] = counted(items, left_out)


def is_of(test: str, share: str) -> bool:
    """Whether a test belongs to this part, as all of its file do."""
    part, parts = map(int, share.split("/"))
    return zlib.crc32(test.partition("::")[0].encode()) % parts == part % parts


def counted(items: Sequence[pytest.Item], left_out: Sequence[pytest.Item]) -> dict[str, dict[str, int]]:
    """How many tests will run, by what they wait for, and how many will not, by their marks."""
    return {
        "run": dict(Counter(map(_waits_for, items))),
        "left out": dict(Counter(_marks(item)[-1] for item in left_out)),
    }


def told(counts: dict[str, dict[str, int]], processes: int) -> list[str]:
    """What is said of them."""
    run = counts["run"]
    waiting = [f"{many:,} for {what}" for what, many in sorted(run.items(), key=lambda each: -each[1]) if what]
    where = f"on {processes} processes" if processes else "in this process"
    lines = [f"{sum(run.values()):,} tests {where}; these wait: {', '.join(waiting) or 'none'}"]
    lines += [
        f"not asked for: {many:,} tests that {ONLY_WHEN_ASKED[mark]} (`pytest -m {mark}`, or `pytest {ALL}`)"
        for mark, many in counts["left out"].items()
    ]
    return lines + [f"missing here, so that tests will be skipped or fail: {what}" for what in missing()]


def missing() -> list[str]:
    """What tests want and this machine has not."""
    programs = {"tmux": ["tmux"], "Chromium": ["chromium", "chromium-browser", "google-chrome"]}
    lacking = [name for name, names in programs.items() if not any(map(shutil.which, names))]
    try:
        find_java()
    except SandboxError as error:
        lacking.append(str(error))
    return lacking


class Herald:
    """Says it where a person reads: in this process, or in the one that xdist's processes report to."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = tempfile.TemporaryDirectory(prefix="kdrill-tests-")
        self._is_told = False

    def pytest_report_collectionfinish(self) -> list[str]:
        """Tests run here."""
        return told(self._config.stash[_COUNTS], 0) if is_whole(self._config) else []

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Tests run in others, who count them."""
        node.workerinput[WHOLE] = is_whole(self._config)
        node.workerinput[COUNTS] = str(Path(self._folder.name, "counts.json"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController) -> None:
        """The first to have counted is believed; the others count the same."""
        if self._is_told or not is_whole(self._config):
            return
        self._is_told = True
        processes = len(self._config.option.tx)
        counts = json.loads(Path(node.workerinput[COUNTS]).read_text(encoding="utf-8"))
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        for line in ["", *told(counts, processes)]:
            reporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """The folder goes."""
        self._folder.cleanup()


def pytest_configure(config: pytest.Config) -> None:
    """One herald, where the terminal is."""
    config.addinivalue_line("markers", "instrument: the short form of a program that runs for as long as one likes")
    config.addinivalue_line("markers", "thorough: more of the same as other tests have, as further seeds")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Herald(config), "herald")


def pytest_collection_finish(session: pytest.Session) -> None:
    """One of xdist's processes writes down what it counted."""
    inputs = getattr(session.config, "workerinput", {})
    if COUNTS in inputs and _COUNTS in session.config.stash:
        scratch = Path(f"{inputs[COUNTS]}-{inputs['workerid']}")
        scratch.write_text(json.dumps(session.config.stash[_COUNTS]), encoding="utf-8")
        scratch.rename(inputs[COUNTS])


_COUNTS = pytest.StashKey[dict[str, dict[str, int]]]()


def _marks(item: pytest.Item) -> list[str]:
    """Why it is left out."""
    names = {mark.name for mark in item.iter_markers()}
    return [mark for mark in ONLY_WHEN_ASKED if mark in names]


def _waits_for(item: pytest.Item) -> str:
    """Nothing is an empty word."""
    for mark, what in (("conformance", "Kafka"), ("instrument", "instruments")):
        if item.get_closest_marker(mark) is not None:
            return what
    named = [what for begin, what in WAITS_FOR.items() if item.nodeid.startswith(begin)]
    return named[0] if named else "ZooKeeper" if ZOOKEEPERS & set(getattr(item, "fixturenames", ())) else ""
