"""A program's own imports find no Hypothesis; all who have it, or want it later, do."""

from __future__ import annotations

import subprocess
import sys

import hypothesis

from model.hosts.process import without_hypothesis

PROGRAM = """
from model.hosts.process import without_hypothesis
try:
    with without_hypothesis():
        import kio.schema.metadata.v1.request, kio.static.primitive
        try:
            import hypothesis
        except ImportError:
            print("not there")
        raise ZeroDivisionError
except ZeroDivisionError:
    import hypothesis
    import kio.schema.fetch.v4.request
    print(kio.static.primitive.i8(3), "there")
"""


def test_it_is_not_there_for_a_while() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "not there\n3 there\n", done.stderr


def test_who_has_it_keeps_it() -> None:
    with without_hypothesis():
        import hypothesis as again  # noqa: PLC0415
    assert again is hypothesis
