"""The folder of a sandbox: what lies where, who may use it, and what shape of cluster is in it.

One sandbox at a time: a lock that goes with its process. A folder that was kept is gone on with by the same shape only;
any other goes with the process, too, and the lock after it.
"""

import fcntl
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from typing import Self

import msgspec

from model.cluster.whole_file import MOST_SETTINGS, read_whole
from model.sandbox.options import Mode, SandboxOptions
from model.sandbox.processes import GuardedFolder, SandboxError, temporary_folder

PATIENCE_S = 3.0
"""How long the folder of a sandbox that was killed may take to go."""
POLL_S = 0.02
LEAST_ROOM_BYTES = 1 << 20
FORMAT = "kdrill.sandbox-folder/1"


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What must be the same when a folder is used again."""

    format: str = FORMAT
    mode: Mode = "zookeeper"
    brokers: int
    racks: int
    zookeepers: int = 0
    controllers: int = 0

    @classmethod
    def of(cls, options: SandboxOptions) -> Self:
        servers = "controllers" if options.is_kraft else "zookeepers"
        return cls(
            mode=options.mode,
            brokers=options.brokers,
            racks=options.racks,
            **{servers: getattr(options, servers)},
        )

    def __str__(self) -> str:
        servers = f"--controllers {self.controllers}" if self.mode == "kraft" else f"--zookeepers {self.zookeepers}"
        return f"--mode {self.mode} --brokers {self.brokers} --racks {self.racks} {servers}"


def mode_in(folder: Path) -> Mode | None:
    """The mode of the sandbox in a folder; None where there is none, or not one to go on with."""
    try:
        return _shape_in(folder).mode
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


SHAPE_FILE = "sandbox.json"


def _shape_in(folder: Path) -> Shape:
    return msgspec.json.decode(read_whole(folder / SHAPE_FILE, MOST_SETTINGS, only_file=True), type=Shape)


class SandboxFolder:
    """Taken when made, until `close`. Raises SandboxError: in use, of another shape, not empty, not writable."""

    def __init__(self, options: SandboxOptions) -> None:
        self.stays = options.keep
        self._guard: GuardedFolder | None = None
        self._lock: int | None = None
        try:
            if options.folder is None and not self.stays:
                self._guard = temporary_folder("kdrill-sandbox-")
                self.path = self._guard.path
            else:
                self.path = Path(options.folder or tempfile.mkdtemp(prefix="kdrill-sandbox-")).absolute()
            self._lock = self._taken()
            self.is_new = self._is_empty(Shape.of(options))
            if self._guard is None and not self.stays:
                self._guard = GuardedFolder(self.path, [self._lock])
            if self.is_new:
                self._write_shape(Shape.of(options))
        except OSError as error:
            self.close()
            raise SandboxError(_refusal(error, options.folder)) from error
        except SandboxError:
            self.close()
            raise

    @property
    def shape_file(self) -> Path:
        return self.path / SHAPE_FILE

    def zookeeper(self, server: int) -> Path:
        return self.path / f"zookeeper-{server}"

    def controller(self, controller: int) -> Path:
        return self.path / f"controller-{controller}"

    def broker(self, broker: int) -> Path:
        return self.path / f"broker-{broker}"

    @property
    def load(self) -> Path:
        return self.path / "load.log"

    def why_of_no_use(self, error: BaseException) -> str:
        """In one line, where it is the folder that lets a start fail; servers do not say that their disk is full."""
        if isinstance(error, OSError):
            return _refusal(error, self.path)
        if isinstance(error, SandboxError) and self.path.exists() and disk_usage(self.path).free < LEAST_ROOM_BYTES:
            return f"can't use {self.path}: its disk is full. Choose a folder with room, by --dir or TMPDIR."
        return ""

    def close(self) -> None:
        """Let go of it; remove it unless it is to stay. Once more does nothing."""
        if self._guard is not None:
            self._guard.remove()
            self._guard = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _taken(self) -> int:
        """The lock. Waits a little for the end of one who was killed: it lasts until all of his is gone."""
        deadline = time.monotonic() + PATIENCE_S
        while (lock := self._locked()) is None:
            if time.monotonic() > deadline:
                raise SandboxError(f"{self.path} is in use by another sandbox. End that one, or choose another folder.")
            time.sleep(POLL_S)
        return lock

    def _locked(self) -> int | None:
        """None where somebody else has it, or has just removed it."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            return None
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), (self.path / "lock").stat()):
                return lock
        os.close(lock)
        return None

    def _write_shape(self, shape: Shape) -> None:
        try:
            self.shape_file.write_bytes(msgspec.json.encode(shape))
        except OSError:
            self.shape_file.unlink(missing_ok=True)  # an empty one would pass for somebody else's
            raise

    def _is_empty(self, asked: Shape) -> bool:
        """Whether it is but for the lock. Raises SandboxError where what is in it is not to be gone on with."""
        others = [entry for entry in self.path.iterdir() if entry.name != "lock"]
        if not others:
            return True
        if not self.stays:
            raise SandboxError(f"{self.path} is not empty. Give --keep to go on with the sandbox in it.")
        try:
            found = _shape_in(self.path)
        except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            raise SandboxError(f"{self.path} is not empty, and no sandbox. Choose another folder.") from None
        if found != asked:
            raise SandboxError(f"{self.path} holds another sandbox. Use it with {found}, or choose another folder.")
        return False


def _refusal(error: OSError, folder: Path | str | None) -> str:
    return f"can't use {error.filename or folder}: {error.strerror}. Choose a folder you may write to."
