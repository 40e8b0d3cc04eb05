"""Follows a source within this process, for commands that print and end; or takes one image of it.

An image can be given the groups that brokers coordinate, which ZooKeeper does not know. Writes nothing. A command ends
early and quietly by a signal, or when nobody reads its output any more.
"""

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
import msgspec

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.hosts.client_security import SecurityError
from model.hosts.kafka_client import Address, KafkaClient
from model.hosts.tls import kafka_options
from model.hosts.wire.connection import Security, security_of
from model.hosts.wire.names import WireError
from model.sandbox.processes import SandboxError
from model.sources.addresses import parse_kafka_address
from model.sources.kafka.groups import GroupSurvey
from model.sources.kafka.polling_source import ANSWER_S, CLIENT_ID
from model.sources.source import Source, SourceError
from tui.cli.output import DEMO, WaitIndicator, let_go, tell
from tui.engine.messages import Opening

if TYPE_CHECKING:
    from model.cluster.cluster_image import ClusterImage
    from model.sources.feed import Moment


ENDS_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

T = TypeVar("T")


async def follow(opening: Opening, see: "Callable[[Moment], bool]") -> None:
    """Shows `see` the moments of a source, from the first at which everything was known, until it has seen enough.

    Raises SourceError where the source cannot be opened, or ends, or where the first moment is longer in coming than
    the opening has patience.
    """
    from tui.engine.sources import source_of  # noqa: PLC0415 - sources take long to load, and no help needs them

    source = source_of(opening)
    _hear_signals(asyncio.get_running_loop())
    await follow_source(source, opening, see)


async def follow_source(source: Source, opening: Opening, see: "Callable[[Moment], bool]") -> None:
    """As `follow`, a source that is not open yet; `opening` says how long to wait."""
    from model.sources.feed import Feed  # noqa: PLC0415 - as above, images
    from model.sources.zookeeper.zookeeper_source import ZooKeeperSource  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    news: asyncio.Queue[Moment] = asyncio.Queue()

    def publish(moment: "Moment") -> None:
        with suppress(RuntimeError):  # the loop has ended; the source is about to
            loop.call_soon_threadsafe(news.put_nowait, moment)

    source.open(Feed(source.name, publish, asks_brokers=not isinstance(source, ZooKeeperSource)))
    try:
        moment = await _first(news, source, opening)
        while see(moment):
            _is_settled(moment := await news.get())
    finally:
        source.close()


async def _first(news: "asyncio.Queue[Moment]", source: Source, opening: Opening) -> "Moment":
    """The first moment at which everything is known. Raises SourceError where it does not come."""
    with WaitIndicator(source, opening) as waiting:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(waiting.look_s):
                    moment = await news.get()
                if _is_settled(moment):
                    return moment
                if moment.status.is_hopeless:
                    raise SourceError(f"{source.name}: {moment.status.reason}")
                waiting.hear(moment.status)
            waiting.look()


def _is_settled(moment: "Moment") -> bool:
    """Whether everything was read at least once. Raises SourceError if nothing more will come."""
    status = moment.status
    if status.phase in ("closed", "denied"):
        raise SourceError(status.reason)
    is_whole = moment.image.provenance.complete and not status.is_partial
    return is_whole and status.phase not in ("connecting", "loading")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which ends early, and quietly, by a signal or when nobody reads the output any more.

    The exit code is then 128 and the number of the signal, as shells say it.
    """
    try:
        with _ended_by_signals():
            return asyncio.run(_until_told(work))
    except BrokenPipeError:
        let_go(sys.stdout)
        _leave(signal.SIGPIPE)


async def _until_told(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    if sys.stdout and stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
        loop.add_reader(sys.stdout, _leave, signal.SIGPIPE)  # a pipe's writing end "can be read" once it is broken
    return await work


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ends at once on a signal: while a file is read, perhaps a pipe without a writer, no event loop runs."""
    before = {number: signal.getsignal(number) for number in ENDS_BY}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, lambda number, _: _leave(signal.Signals(number)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _hear_signals(loop: asyncio.AbstractEventLoop) -> None:
    """Handles signals between two steps of the event loop, so that no write is cut short."""
    for number in ENDS_BY:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, _leave, number)


def _leave(number: signal.Signals) -> NoReturn:
    raise SystemExit(128 + number)


def image_of(opening: Opening) -> "ClusterImage":
    """The first image in which everything is known, but for groups of brokers beside a ZooKeeper, which takes longer.

    Raises SourceError.
    """
    seen: list[ClusterImage] = []

    def see(moment: "Moment") -> bool:
        seen.append(moment.image)
        return False

    with _opened(msgspec.structs.replace(opening, bootstrap="")) as found:
        run(follow(found, see))
    image = seen[0]
    if opening.is_demo:
        image = msgspec.structs.replace(image, provenance=msgspec.structs.replace(image.provenance, source=DEMO))
    return image


@contextlib.contextmanager
def _opened(opening: Opening) -> Iterator[Opening]:
    """The opening to follow; for the demo its cluster runs while the context lasts."""
    if not opening.is_demo:
        yield opening
        return
    from model.sandbox.demo.demo import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

    try:
        with DemoSandbox(period_s=None) as demo:
            yield msgspec.structs.replace(opening, source=demo.source)
    except SandboxError as error:
        raise SourceError(str(error)) from None


PLAIN: Mapping[str, Any] = MappingProxyType({})


def with_groups(image: ClusterImage, opening: Opening) -> ClusterImage:
    """The image with the groups of the brokers named by `--bootstrap`, if any; warns of those that do not answer.

    Raises SourceError, and click.ClickException for an unusable login.
    """
    if not opening.bootstrap:
        return image
    try:
        options, timeout_s = kafka_options(opening.login.kafka), opening.patience.timeout_s
        known, silent = with_broker_groups(image, opening.bootstrap, options, timeout_s)
    except SecurityError as error:
        raise click.ClickException(str(error)) from None
    for line in silent:
        tell(line)
    return known


def with_broker_groups(
    image: ClusterImage, bootstrap: str, options: Mapping[str, Any] = PLAIN, timeout_s: float = 60.0
) -> tuple[ClusterImage, tuple[str, ...]]:
    """The image with the groups of the brokers at `host:port[,…]`, and what could not be had, a line each.

    `options` are kafka-python's, for the login. Raises SourceError where no broker answers, where not all is told
    within `timeout_s`, and for what is no such list.
    """
    addresses = parse_kafka_address(bootstrap).brokers
    try:
        return asyncio.run(asyncio.wait_for(_asked(image, addresses, security_of(options)), timeout_s))
    except WireError as error:
        raise SourceError(f"kafka://{bootstrap}: {error}") from None
    except TimeoutError:
        raise SourceError(f"kafka://{bootstrap}: no answer about the groups within {timeout_s:g} s") from None


async def _asked(
    image: ClusterImage, addresses: Sequence[Address], security: Security
) -> tuple[ClusterImage, tuple[str, ...]]:
    client = KafkaClient(addresses, CLIENT_ID, ANSWER_S, security)
    survey = GroupSurvey(client)
    try:
        records = await survey.look({read for group in image.groups.values() for read in group.offsets})
    finally:
        await client.close()
    provenance = msgspec.structs.replace(image.provenance, asks_brokers=True)
    known = ClusterDelta(image).replay_all(records).apply(provenance)
    return msgspec.structs.replace(known, provenance=provenance), survey.silent
