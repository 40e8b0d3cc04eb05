"""A run of pytest in which the few tests that failed get a second chance: each alone, with nothing beside it.

`python -m tests.rerun ARGUMENTS…` gives them to pytest. A test that passes alone is unsteady: that is printed with
what it failed of, and does not fail the run. One that fails again fails it, and so do more than MOST_RERUN failures,
which no noise explains: ten, for a fixture that fails is a failure of each of its tests.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

MOST_RERUN = 10


class Failures:
    """By test: what it failed of. Of several reasons the first. And whether there are tests that could not be read."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        self.unread = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that holds no tests because it is broken."""
        self.unread |= report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of three for each test: setup, call and teardown."""
        if report.failed:
            self.reasons.setdefault(report.nodeid, f"{report.when}: {report.longreprtext}")


def passes_alone(test: str) -> bool:
    """Whether it passes in a process of its own."""
    return (
        subprocess.run([sys.executable, "-m", "pytest", "-n", "0", test], check=False).returncode == pytest.ExitCode.OK
    )


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 if every test has passed, at the latest when it was alone."""
    failures = Failures()
    code = pytest.main([*arguments], plugins=[failures])
    if code != pytest.ExitCode.TESTS_FAILED or failures.unread or not 0 < len(failures.reasons) <= MOST_RERUN:
        return code
    print(f"\n== Failed, and now run once more, each alone: {len(failures.reasons)}", flush=True)
    unsteady = [test for test in failures.reasons if passes_alone(test)]
    for test in unsteady:
        print(f"\n== Unsteady: failed beside others, passed alone: {test}\n{failures.reasons[test]}")
    lasting = [test for test in failures.reasons if test not in unsteady]
    for test in lasting:
        print(f"\n== Failed twice: {test}")
    return pytest.ExitCode.TESTS_FAILED if lasting else pytest.ExitCode.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
