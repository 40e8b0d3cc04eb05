"""Jars for tests, fetched once from Maven Central and kept in the user's cache folder; and what a test does without.

Does not run the jars, and does not call Maven again once they are there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from platformdirs import user_cache_path

from model.sandbox.java import fetched_jars
from model.sandbox.processes import SandboxError


class UnavailableError(Exception):
    """Something that the tests need is not on this machine; the message says what, in one line."""


def jars_folder(name: str, artifacts: Sequence[str]) -> Path:
    """A folder with the jars of `artifacts` (group:artifact:version) and of what they need to run.

    Raises UnavailableError, at first use, without Maven or the network.
    """
    try:
        return fetched_jars(name, artifacts, user_cache_path("kdrill") / "tests")
    except SandboxError as error:
        raise UnavailableError(str(error)) from None


def skip_or_fail(reason: str) -> NoReturn:
    """Something is not on this machine: the test is skipped, or fails with KDRILL_REQUIRE_CONFORMANCE=1."""
    if os.environ.get("KDRILL_REQUIRE_CONFORMANCE") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
