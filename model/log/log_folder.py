"""A broker's log folder (log.dirs): its lock, its checkpoints, the partition folders in it.

Kafka 3.9 `kafka.log.LogManager`. It says when nothing is to be done: who calls `checkpoint`, and how often, decides
elsewhere (Kafka: high watermarks every 5 s, the rest every 60 s, all of it at the end).
"""

import fcntl
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from model.log.checkpoints import (
    TopicPartition,
    fsync_folder,
    mark_clean_shutdown,
    read_offsets,
    take_clean_shutdown_mark,
    write_offsets,
)
from model.log.names import (
    CLEANER_OFFSET_FILE,
    HIGH_WATERMARK_FILE,
    LOCK_FILE,
    LOG_START_OFFSET_FILE,
    RECOVERY_POINT_FILE,
    DamagedFileError,
    FolderInUseError,
    FolderRole,
    PartitionFolder,
    partition_folder,
)
from model.log.partition_log import PartitionLog
from model.log.recovery import Checkpointed, RecoveryReport, open_log
from model.log.settings import LogSettings

Logs = Mapping[TopicPartition, PartitionLog]


class LogFolder:
    """An open log folder. `damaged_checkpoints` are sentences about checkpoints that count as empty."""

    def __init__(self, path: Path) -> None:
        """Takes the folder, and makes it if there is none.

        Raises FolderInUseError while a broker, ours or Kafka's own, holds it.
        """
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = _lock(path)
        self.was_clean = take_clean_shutdown_mark(path)
        self.damaged_checkpoints: list[str] = []
        self._recovery_points = self._read(RECOVERY_POINT_FILE)
        self._high_watermarks = self._read(HIGH_WATERMARK_FILE)
        self._start_offsets = self._read(LOG_START_OFFSET_FILE)
        self.cleaned_to = self._read(CLEANER_OFFSET_FILE)
        """The first offset of each compacted log that has not been compacted."""

    def _read(self, name: str) -> dict[TopicPartition, int]:
        try:
            return read_offsets(self.path / name)
        except DamagedFileError as error:
            self.damaged_checkpoints.append(str(error))
            return {}

    def folders(self, role: FolderRole = FolderRole.CURRENT) -> list[PartitionFolder]:
        found = (partition_folder(path.name) for path in sorted(self.path.iterdir()) if path.is_dir())
        return [folder for folder in found if folder and folder.role is role]

    def open_log(
        self, topic: str, partition: int, settings: LogSettings, *, now_ms: int, future_id: str = ""
    ) -> tuple[PartitionLog, RecoveryReport]:
        """The log of a partition, new or as it was left; the report says what had to be mended.

        `future_id`: 32 hex digits of a log that is being filled by a move between log folders.
        """
        key = topic, partition
        checkpointed = Checkpointed(
            clean=self.was_clean,
            recovery_point=self._recovery_points.get(key, 0),
            high_watermark=self._high_watermarks.get(key, 0),
            log_start_offset=self._start_offsets.get(key, 0),
        )
        role = FolderRole.FUTURE if future_id else FolderRole.CURRENT
        folder = PartitionFolder(topic, partition, role, future_id)
        return open_log(self.path / str(folder), settings, checkpointed, now_ms=now_ms)

    def checkpoint_high_watermarks(self, logs: Logs) -> None:
        self._high_watermarks = {key: log.high_watermark for key, log in logs.items()}
        write_offsets(self.path / HIGH_WATERMARK_FILE, self._high_watermarks)

    def checkpoint(self, logs: Logs) -> None:
        """Notes recovery points, and start offsets where they differ from what the segments' names tell."""
        self._recovery_points = {key: log.recovery_point for key, log in logs.items()}
        self._start_offsets = {
            key: log.start_offset for key, log in logs.items() if log.start_offset > log.segments.first.base_offset
        }
        write_offsets(self.path / RECOVERY_POINT_FILE, self._recovery_points)
        write_offsets(self.path / LOG_START_OFFSET_FILE, self._start_offsets)

    def checkpoint_cleaner(self, topic: str, partition: int, cleaned_to: int) -> None:
        self.cleaned_to[topic, partition] = cleaned_to
        write_offsets(self.path / CLEANER_OFFSET_FILE, self.cleaned_to)

    def put_in_place(self, log: PartitionLog, topic: str, partition: int) -> None:
        """Makes a future log the current one; the one before lies in another log folder. Raises OSError."""
        log.rename_to(self.path / str(PartitionFolder(topic, partition)))
        fsync_folder(self.path)

    def mark_for_deletion(self, topic: str, partition: int, unique_id: str, name: str = "") -> PartitionFolder:
        """Renames a closed log's folder to `-delete`; `unique_id` is 32 hex digits. It can be made anew at once.

        `name`: how the folder is called, where that is not the partition's name.
        """
        doomed = PartitionFolder(topic, partition, FolderRole.DELETE, unique_id)
        (self.path / (name or f"{topic}-{partition}")).rename(self.path / str(doomed))
        fsync_folder(self.path)
        for offsets in (self._recovery_points, self._high_watermarks, self._start_offsets, self.cleaned_to):
            offsets.pop((topic, partition), None)
        return doomed

    def delete(self, folder: PartitionFolder) -> None:
        """Removes a folder that was marked: after file.delete.delay.ms, or at the next start."""
        if folder.role is not FolderRole.DELETE:
            raise ValueError(f"{folder} is not marked for deletion")
        shutil.rmtree(self.path / str(folder), ignore_errors=True)

    def close(self, logs: Logs, *, now_ms: int, broker_epoch: int = -1) -> None:
        """An orderly end: closes the logs, notes all, and says so to the next start."""
        for log in logs.values():
            log.close(now_ms=now_ms)
        self.checkpoint_high_watermarks(logs)
        self.checkpoint(logs)
        mark_clean_shutdown(self.path, broker_epoch)
        self.release()

    def release(self) -> None:
        """Lets the folder go without saying that all is well."""
        os.close(self._lock)


def _lock(folder: Path) -> int:
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kind of lock that Java takes
    except OSError:
        os.close(descriptor)
        raise FolderInUseError(folder) from None
    return descriptor
