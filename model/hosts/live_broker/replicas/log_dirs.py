"""The log dirs of a broker and the logs in them: opened, made, deleted, checkpointed; a dir that fails is used no more.

Kafka 3.9 `kafka.log.LogManager`. It does not know what a partition's role is. For drills, appends beyond a number of
bytes fail as on a full disk: the number is in `log.dir.bytes.limit` in `kdrill.fault.folder`, and may come and go
while the broker runs.
"""

import errno
import logging
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model.broker.settings.keys import LOG_DIR_LIMIT_FILE
from model.cluster.ids import TopicPartition
from model.hosts.wire.names import topic_id_text, topic_uuid
from model.log.checkpoints import mark_clean_shutdown, read_topic_id, write_topic_id
from model.log.log_folder import LogFolder
from model.log.names import DamagedFileError, FolderInUseError, FolderRole, PartitionFolder
from model.log.partition_log import PartitionLog
from model.log.settings import LogSettings

LOOK_EVERY_S = 0.5


class SpaceLimit:
    """`used` counts the bytes of all logs; it is asked when a limit is set, and what is appended is added."""

    def __init__(self, folder: str | None, used: Callable[[], int]) -> None:
        self._file = None if folder is None else Path(folder) / LOG_DIR_LIMIT_FILE
        self._used = used
        self._look_at_s = 0.0
        self._modified_ns: int | None = None
        self._left: int | None = None

    def take(self, count: int) -> None:
        """Before so many bytes are written. Raises OSError ENOSPC where they do not fit."""
        if self._file is None:
            return
        if time.monotonic() >= self._look_at_s:
            self._look_at_s = time.monotonic() + LOOK_EVERY_S
            self._look(self._file)
        if self._left is None:
            return
        if count > self._left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._left -= count

    def _look(self, file: Path) -> None:
        try:
            modified_ns = file.stat().st_mtime_ns
            if modified_ns != self._modified_ns:
                self._left = int(file.read_text()) - self._used()
                self._modified_ns = modified_ns
        except (OSError, ValueError):
            self._modified_ns = self._left = None


THREADS = 16
_LOGGER = logging.getLogger(__name__)


@dataclass
class HeldLog:
    """An open log, the log dir it lies in, and the id of its topic (22 characters) if it has one."""

    log: PartitionLog
    dir: LogFolder
    topic_id: str | None = None


class LogDirs:
    """Takes the folders; one that cannot be used has failed already.

    Raises FolderInUseError while another broker holds one, and OSError where none can be used.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = [Path(path) for path in paths]
        self.failed: dict[Path, str] = {}
        """Why each failed one failed."""
        self.folders = self._take()
        self.logs: dict[TopicPartition, HeldLog] = {}
        self.futures: dict[TopicPartition, HeldLog] = {}
        """Logs that are filled from those of the same name, each in another log dir, to take their places."""
        self.preferred: dict[TopicPartition, Path] = {}
        """Where logs are to be made that there are not yet."""
        self.threads = ThreadPoolExecutor(THREADS, "log-dirs")
        """For work that mostly waits for the disk."""
        self._doomed: list[tuple[int, LogFolder, PartitionFolder]] = []

    def _take(self) -> list[LogFolder]:
        folders: list[LogFolder] = []
        for path in self.paths:
            try:
                folders.append(LogFolder(path))
            except FolderInUseError:
                for folder in folders:
                    folder.release()
                raise
            except OSError as error:
                self.failed[path] = error.strerror or str(error)
                _LOGGER.error("log dir %s cannot be used: %s", path, self.failed[path])
                if len(self.failed) == len(self.paths):
                    raise
        return folders

    @property
    def was_clean(self) -> bool:
        """Whether the last stop of the broker was an orderly one."""
        return all(folder.was_clean for folder in self.folders)

    @property
    def online(self) -> list[LogFolder]:
        return [folder for folder in self.folders if folder.path not in self.failed]

    def found(self, role: FolderRole = FolderRole.CURRENT) -> Iterator[tuple[LogFolder, PartitionFolder]]:
        """The logs that lie in the log dirs. Raises DamagedFileError where a partition has two."""
        seen: dict[TopicPartition, Path] = {}
        for folder in self.online:
            for found in folder.folders(role):
                path = folder.path / str(found)
                other = seen.setdefault(TopicPartition(found.topic, found.partition), path)
                if other != path:
                    why = f"{other} is the same partition's: delete the one whose log dir failed last, and start again"
                    raise DamagedFileError(path, why)
                yield folder, found

    def remove_leftovers(self) -> None:
        """Of deletions before the start."""
        for folder in self.online:
            for doomed in folder.folders(FolderRole.DELETE):
                folder.delete(doomed)

    @property
    def all_logs(self) -> list[tuple[TopicPartition, HeldLog]]:
        """Those to be, too."""
        return [*self.logs.items(), *self.futures.items()]

    def holds(self, name: TopicPartition, held: HeldLog) -> bool:
        """Whether this log is in use, or to be."""
        return self.logs.get(name) is held or self.futures.get(name) is held

    def open(
        self,
        folder: LogFolder,
        name: TopicPartition,
        settings: LogSettings,
        now_ms: int,
        topic_id: str | None = None,
        future_id: str = "",
    ) -> HeldLog:
        """Open a log, or make it, for the topic with this id. It is not held yet: this may run on any thread.

        `future_id`: of one that is to take the current one's place. Raises DamagedFileError, and OSError that names
        the log dir.
        """
        with _naming(folder):
            log, report = folder.open_log(*name, settings, now_ms=now_ms, future_id=future_id)
            held = HeldLog(log, folder, _topic_id(log.folder))
            if topic_id is not None and held.topic_id is None:
                _assign(held, topic_id)
        for sentence in report.sentences():
            _LOGGER.info("%s: %s", name, sentence)
        return held

    def places(self, names: Sequence[TopicPartition], *, anywhere: bool) -> list[LogFolder]:
        """Where new logs are to lie: as was ordered, else in the online dir with the fewest.

        Unless `anywhere`, they may lie in a dir that has failed: then none are to be made. Raises OSError that names
        no dir.
        """
        online = self.online
        if not online or (self.failed and not anywhere):
            raise OSError(errno.ENODEV, "its log dir has failed")
        if len(online) == 1:
            return online * len(names)
        counts = Counter(held.dir.path for held in self.logs.values())
        chosen: list[LogFolder] = []
        for name in names:
            ordered = [each for each in online if each.path == self.preferred.get(name)]
            chosen.append(min(ordered or online, key=lambda each: counts[each.path]))
            counts[chosen[-1].path] += 1
            self.preferred.pop(name, None)
        return chosen

    def assign_topic_id(self, name: TopicPartition, topic_id: str) -> None:
        """Write the topic's id beside the log. The controller tells it again if a power cut loses it."""
        _assign(self.logs[name], topic_id)

    def delete(self, name: TopicPartition, now_ms: int) -> None:
        """Give up a log, if there is one. Its files go after file.delete.delay.ms."""
        self.delete_future(name, now_ms)
        held = self.logs.pop(name, None)
        if held is not None:
            self._doom(name, held, now_ms)

    def delete_future(self, name: TopicPartition, now_ms: int) -> None:
        """Give up a move, if there is one."""
        held = self.futures.pop(name, None)
        if held is not None:
            self._doom(name, held, now_ms)

    def swap(self, name: TopicPartition, now_ms: int) -> None:
        """The future log, which has all that the current one has, takes its place; that one goes.

        Kafka 3.9 `LogManager.replaceCurrentWithFutureLog`, in the same order: whoever is killed between the two has
        both, and says so when it starts again. Raises OSError where a folder cannot be renamed.
        """
        before, after = self.logs[name], self.futures[name]
        after.dir.put_in_place(after.log, *name)
        cleaned_to = before.dir.cleaned_to.get(name)
        if cleaned_to is not None:
            after.dir.checkpoint_cleaner(*name, cleaned_to)
        del self.futures[name]
        self.logs[name] = after
        self._doom(name, before, now_ms)

    def _doom(self, name: TopicPartition, held: HeldLog, now_ms: int) -> None:
        for segment in held.log.segments:
            segment.close()
        doomed = held.dir.mark_for_deletion(*name, uuid.uuid4().hex, held.log.folder.name)
        self._doomed.append((now_ms + held.log.settings.file_delete_delay_ms, held.dir, doomed))

    def remove_doomed(self, now_ms: int) -> None:
        """Remove what was deleted long enough ago."""
        due = [each for each in self._doomed if each[0] <= now_ms]
        self._doomed = [each for each in self._doomed if each[0] > now_ms]
        for _, folder, doomed in due:
            folder.delete(doomed)

    def fail(self, path: Path, why: str) -> list[TopicPartition]:
        """Use a log dir no more. Returns the partitions that lie in it."""
        self.failed[path] = why
        lost = [name for name, held in self.logs.items() if held.dir.path == path]
        for name in lost:
            del self.logs[name]
        self.futures = {name: held for name, held in self.futures.items() if held.dir.path != path}
        return lost

    def checkpoint_high_watermarks(self) -> None:
        """Note what is replicated. Raises OSError that names the log dir."""
        for folder in self.online:
            with _naming(folder):
                folder.checkpoint_high_watermarks(self._logs_in(folder))

    def checkpoint(self) -> None:
        """Note recovery points and start offsets. Raises OSError that names the log dir."""
        for folder in self.online:
            with _naming(folder):
                folder.checkpoint(self._logs_in(folder))

    def mark_clean_shutdown(self, broker_epoch: int) -> None:
        """Say that all is on disk, but in dirs that have failed."""
        for folder in self.online:
            mark_clean_shutdown(folder.path, broker_epoch)

    def release(self) -> None:
        """Let the folders go."""
        self.threads.shutdown()
        for folder in self.folders:
            folder.release()

    def _logs_in(self, folder: LogFolder) -> dict[tuple[str, int], PartitionLog]:
        return {name: held.log for name, held in self.all_logs if held.dir is folder}


@contextmanager
def _naming(folder: LogFolder) -> Generator[None]:
    """Errors of the disk name the log dir, whatever file they were about."""
    try:
        yield
    except OSError as error:
        error.filename = str(folder.path)
        raise


def _topic_id(folder: Path) -> str | None:
    try:
        return topic_id_text(read_topic_id(folder))
    except DamagedFileError as error:
        _LOGGER.warning("%s", error)
        return None


def _assign(held: HeldLog, topic_id: str) -> None:
    write_topic_id(held.log.folder, topic_uuid(topic_id), fsync=False)
    held.topic_id = topic_id
