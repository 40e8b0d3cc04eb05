"""The collector of cycles is held back for as long as somebody's work goes on; what a program loads it leaves alone."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from model.hosts.process import keep, loading, uncollected


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """Whatever a command that ran in this process before had done with it."""
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    if not was_enabled:
        gc.disable()


def test_it_collects_again_however_the_work_ended() -> None:
    assert gc.isenabled()
    with uncollected():
        with pytest.raises(ZeroDivisionError), uncollected():
            _fail()
        assert not gc.isenabled()
    assert gc.isenabled()


def _fail() -> None:
    assert not gc.isenabled()
    raise ZeroDivisionError


def test_one_who_had_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_loaded_is_left_alone_and_what_was_waste_before_is_not_kept() -> None:
    class Thing:
        pass

    waste = Thing()
    vars(waste)["itself"] = waste
    gone = weakref.ref(waste)
    del waste
    before = gc.get_freeze_count()
    with loading():
        loaded = [Thing() for _ in range(100)]
    assert gc.get_freeze_count() >= before + len(loaded)
    assert gc.isenabled()
    assert gone() is None


def test_what_is_kept_is_left_alone_and_all_that_comes_later_is_walked_through_seldom() -> None:
    class Thing:
        pass

    limits = gc.get_threshold()
    kept, before = [Thing() for _ in range(100)], gc.get_freeze_count()
    try:
        keep()
        assert gc.get_freeze_count() >= before + len(kept)
        assert gc.get_threshold()[:2] == limits[:2]
        assert gc.get_threshold()[2] >= 10 * limits[2]
    finally:
        gc.unfreeze()
        gc.set_threshold(*limits)
