"""What can be wrong with a log, or with what is asked of it, each as one line that names the subject."""

from pathlib import Path


class LogError(Exception):
    """A request that the log refuses. `kafka_error` is the name of Kafka's error code that says so on the wire."""

    def __init__(self, kafka_error: str, why: str) -> None:
        super().__init__(why)
        self.kafka_error = kafka_error


class DamagedFileError(Exception):
    """A file whose content can't be used: where, and what is wrong with it."""

    def __init__(self, path: Path, why: str, line: int | None = None) -> None:
        """`line` counts from 1, for text files."""
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {why}")
        self.path = path


class FolderInUseError(Exception):
    """Another process holds the lock of a log folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} is in use by another process: stop that broker, or use another folder")
