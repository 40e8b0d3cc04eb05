"""Reads the next part while its caller works on the one before: the server need not wait for us. Keeps nothing."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


def read_ahead(read: Callable[[P], T], parts: Iterable[P]) -> Generator[T]:
    """What `read` returns for each part, in order, or raises; never two parts at a time.

    Whoever stops early has to close it: that waits until nothing is read any more.
    """
    readings = (_begun(read, part) for part in parts)
    reading = next(readings, None)
    try:
        while reading is not None:
            done = reading.result()
            reading = next(readings, None)
            yield done
    finally:
        if reading is not None:
            wait([reading])


def _begun(read: Callable[[P], T], part: P) -> Future[T]:
    future: Future[T] = Future()

    def settle() -> None:
        try:
            future.set_result(read(part))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=settle, name="zookeeper-ahead", daemon=True).start()
    return future
