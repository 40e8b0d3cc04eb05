"""Opens, makes and closes many logs at a time, on threads: most of the time goes into waiting for the disk.

Kafka 3.9 `LogManager.loadLogs`, `shutdown`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from model.broker.commands import CreateLog
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.log.errors import DamagedFileError
from model.log.log_folder import LogFolder

_LOGGER = logging.getLogger(__name__)
Failed = Callable[[TopicPartition, OSError], None]


async def load_logs(held: HeldReplicas, found: Iterable[tuple[LogFolder, TopicPartition]], failed: Failed) -> None:
    """Open these logs. A log that cannot be opened is offline; `failed` hears of those whose disk fails."""
    wanted = [(folder, name, None) for folder, name in found]
    _LOGGER.info("opening %d logs", len(wanted))
    await _open_all(held, wanted, failed)
    _LOGGER.info("all logs are open")


async def create_logs(held: HeldReplicas, commands: Sequence[CreateLog], failed: Failed) -> None:
    """Make these logs. `failed` hears of those that cannot be made."""
    for anywhere in (True, False):
        some = [command for command in commands if command.is_new is anywhere]
        try:
            places = held.log_dirs.places(len(some), anywhere=anywhere)
        except OSError as error:
            for command in some:
                failed(command.partition, error)
            continue
        wanted = [(place, each.partition, each.topic_id) for place, each in zip(places, some, strict=True)]
        await _open_all(held, wanted, failed)


async def _open_all(
    held: HeldReplicas, wanted: Iterable[tuple[LogFolder, TopicPartition, str | None]], failed: Failed
) -> None:
    loop, dirs, now_ms = asyncio.get_running_loop(), held.log_dirs, held.now_ms()

    async def open_one(folder: LogFolder, name: TopicPartition, topic_id: str | None) -> None:
        settings = held.settings.of(name.topic).log
        opening = partial(dirs.open, folder, name, settings, now_ms, topic_id)
        try:
            dirs.logs[name] = await loop.run_in_executor(dirs.threads, opening)
        except OSError as error:
            failed(name, error)
        except DamagedFileError as error:
            _LOGGER.error("the log of %s in %s cannot be opened: %s", name, folder.path, error)
            held.offline |= {name}

    await asyncio.gather(*(open_one(*each) for each in wanted))


async def close_logs(held: HeldReplicas, failed: Failed) -> None:
    """Flush and close all logs. `failed` hears of those whose disk fails: nobody is to take them for clean."""
    loop, dirs, now_ms = asyncio.get_running_loop(), held.log_dirs, held.now_ms()

    async def close_one(name: TopicPartition, each: HeldLog) -> None:
        try:
            await loop.run_in_executor(dirs.threads, partial(each.log.close, now_ms=now_ms))
        except OSError as error:
            failed(name, error)

    await asyncio.gather(*(close_one(name, each) for name, each in list(dirs.logs.items())))
