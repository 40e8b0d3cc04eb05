"""kio without the test library that it loads wherever there is one."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

HYPOTHESIS = "hypothesis"


@contextmanager
def without_hypothesis() -> Generator[None]:
    """For what a program imports first: kio, then, finds no Hypothesis, and prepares none of its types for it.

    In a checkout, where it is installed, that takes half of a broker's start. Whoever has loaded it already keeps it.
    """
    modules: dict[str, Any] = sys.modules
    if HYPOTHESIS in modules:
        yield
        return
    modules[HYPOTHESIS] = None  # the language's own way to say that there is no such module
    try:
        yield
    finally:
        del modules[HYPOTHESIS]
