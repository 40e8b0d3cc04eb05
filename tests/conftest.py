"""What all tests may use: one real ZooKeeper for the session, a root of its own for each test, and waiting.

No test sees what this machine's user set up or chose: settings, state and variables of kdrill's are the test's own.
"""

import gc
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from model.sandbox.embedded_zookeeper import ZnodeSession, start_zookeeper
from model.sandbox.processes import GONE, process_state
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests import fast_tier, whole_run
from tests.parallel import pytest_xdist_auto_num_workers, pytest_xdist_make_scheduler  # noqa: F401 - hooks

# A noisy machine must not fail a property, nor may an example that no run before had: tests.search looks for those.
settings.register_profile("kdrill", deadline=None, derandomize=True)
settings.load_profile("kdrill")

KDRILL_SETTINGS = ("KDRILL_CONFIG", "KDRILL_THEME", "KDRILL_ASCII", "KDRILL_FRESH", "KDRILL_SPARK_MASTER")
"""Variables that stand for options of kdrill."""

SIZE_OF_ANOTHER_TERMINAL = ("COLUMNS", "LINES")
"""Line editing libraries export it to their children, and it would count for more than a test's own terminal."""

USERS_FOLDERS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME")

OBJECTS_OF_A_TEST = 10_000
"""Objects made until the collector looks at the young ones. A dashboard has more, which live and die together."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options of our own; see tests/whole_run.py."""
    parser.addoption(whole_run.ALL, action="store_true", help="real Kafka and the short forms of instruments, too")
    parser.addoption(whole_run.SHARE, metavar="N/M", help="of what is more of the same, part N of M")


def pytest_configure(config: pytest.Config) -> None:
    """Outside of tests (fixtures of the session) settings and state are where nothing can be."""
    for hooks in (fast_tier, whole_run):
        config.pluginmanager.register(hooks)
    for name in (*KDRILL_SETTINGS, *SIZE_OF_ANOTHER_TERMINAL, "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    sys.dont_write_bytecode = False  # tests start hundreds of Pythons, which would compile all that they import anew
    os.environ.update(dict.fromkeys(USERS_FOLDERS, f"{os.devnull}/none"))
    gc.disable()  # while tests are collected: a fourth of that time, in each of xdist's processes


def pytest_collection_finish() -> None:
    """What was collected stays to the end: nothing is gained where the collector walks through it again and again."""
    gc.freeze()
    gc.set_threshold(OBJECTS_OF_A_TEST)
    gc.enable()


def pytest_sessionfinish() -> None:
    """No walk through all that there is just before it is given back with the process."""
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_of_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings and state in folders that are not there yet, others for each test, and for its child processes too."""
    home = tmp_path_factory.getbasetemp() / f"home-{uuid.uuid4().hex[:12]}"
    with pytest.MonkeyPatch.context() as patch:
        for name in USERS_FOLDERS:
            patch.setenv(name, str(home / name))
        yield


@pytest.fixture(scope="session", autouse=True)
def signals_as_from_a_terminal() -> None:
    """A run in the background starts with SIGINT ignored, under nohup SIGHUP too, and children inherit that."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def zookeeper_server() -> Iterator[EmbeddedZooKeeper]:
    """The session's server. Tests share it: harm only `own_zookeeper`."""
    with start_zookeeper() as server:
        yield server


@pytest.fixture
def zookeeper(zookeeper_server: EmbeddedZooKeeper) -> str:
    """`127.0.0.1:PORT/test-…`: an empty root on the session's server."""
    root = f"/test-{uuid.uuid4().hex[:12]}"
    session = ZnodeSession(zookeeper_server.address)
    session.make_path(root)
    session.close()
    return zookeeper_server.address + root


@pytest.fixture
def own_zookeeper() -> Iterator[EmbeddedZooKeeper]:
    """A server for one test, to be killed, paused and restarted."""
    with start_zookeeper() as server:
        yield server


@pytest.fixture
def is_gone() -> Callable[[int], bool]:
    """Whether the process with this id has ended."""
    return lambda pid: process_state(pid) in (GONE, "Z")  # a zombie only waits to be asked how it ended
