"""The folder of a sandbox: what lies where, who may use it, and what shape of cluster is in it.

One sandbox at a time: a lock that goes with its process. A folder that was kept is gone on with by the same shape only.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Self

import msgspec

from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.errors import SandboxError

FORMAT = "kdrill.sandbox-folder/1"


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What must be the same when a folder is used again."""

    format: str = FORMAT
    brokers: int
    racks: int
    zookeepers: int

    @classmethod
    def of(cls, options: SandboxOptions) -> Self:
        """The shape that is asked for."""
        return cls(brokers=options.brokers, racks=options.racks, zookeepers=options.zookeepers)

    def __str__(self) -> str:
        return f"--brokers {self.brokers} --racks {self.racks} --zookeepers {self.zookeepers}"


class SandboxFolder:
    """Taken when made, until `close`. Raises SandboxError: in use, of another shape, not empty, not writable."""

    def __init__(self, options: SandboxOptions) -> None:
        self.stays = options.keep
        try:
            if options.folder is None:
                self.path = Path(tempfile.mkdtemp(prefix="kdrill-sandbox-"))
            else:
                self.path = Path(options.folder).absolute()
                self.path.mkdir(parents=True, exist_ok=True)
            self._lock: int | None = self._taken()
            try:
                self.is_new = self._check(Shape.of(options))
            except BaseException:
                os.close(self._lock)
                raise
        except OSError as error:
            where = error.filename or options.folder
            raise SandboxError(f"can't use {where}: {error.strerror}. Choose a folder you may write to.") from error

    @property
    def shape_file(self) -> Path:
        return self.path / "sandbox.json"

    def zookeeper(self, server: int) -> Path:
        """A ZooKeeper server's own folder."""
        return self.path / f"zookeeper-{server}"

    def broker(self, broker: int) -> Path:
        """A broker's own folder."""
        return self.path / f"broker-{broker}"

    @property
    def load(self) -> Path:
        """What the load said."""
        return self.path / "load.log"

    def close(self) -> None:
        """Let go of it; remove it unless it is to stay. Once more does nothing."""
        if self._lock is None:
            return
        if not self.stays:
            shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
        self._lock = None

    def _taken(self) -> int:
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise SandboxError(
                f"{self.path} is in use by another sandbox. End that one, or choose another folder."
            ) from None
        return lock

    def _check(self, asked: Shape) -> bool:
        """Whether the folder was empty."""
        others = [entry for entry in self.path.iterdir() if entry.name != "lock"]
        if not others:
            self.shape_file.write_bytes(msgspec.json.encode(asked))
            return True
        if not self.stays:
            raise SandboxError(f"{self.path} is not empty. Give --keep to go on with the sandbox in it.")
        try:
            found = msgspec.json.decode(self.shape_file.read_bytes(), type=Shape)
        except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            raise SandboxError(f"{self.path} is not empty, and no sandbox. Choose another folder.") from None
        if found != asked:
            raise SandboxError(f"{self.path} holds another sandbox. Use it with {found}, or choose another folder.")
        return False
