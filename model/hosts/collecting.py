"""Python's collector of cycles: held back for a moment, and kept from what a program loads to keep."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """No collections meanwhile, for short work that makes very many objects, all without cycles and most to stay.

    It holds for the whole process: whoever comes first ends it, so that it never outlasts them. Also from many threads.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def loading() -> Generator[None]:
    """The same for what a program loads to keep: no later collection walks through it either, which takes frames."""
    with uncollected():
        gc.collect()  # what is waste by now is not to be kept
        yield
        gc.freeze()
