"""Files that people name: as a path is typed, read whole within a bound, and written whole or not at all.

It knows no document. Whatever a user can name is read here: it may be a pipe, a device without an end, or larger than
the memory.
"""

import contextlib
import errno
import os
import select
import stat
from pathlib import Path

MOST_SETTINGS = 1 << 24
"""Bytes of a file that people write: a configuration, a key, a scenario."""
MOST_FACTS = 1 << 30
"""Bytes of a file about a cluster: a million partitions take a fifth of it."""
_PIECE = 1 << 20
_LOOK_MS = 100
"""How long a signal may go unheard that came between Python's last look for signals and the wait for a pipe."""


def read_whole(path: os.PathLike[str] | str, most_bytes: int, *, only_file: bool = False) -> bytes:
    """All that is in a file, or comes through a pipe until it ends; a signal's handler may end the waiting for it.

    Raises OSError for what has more than `most_bytes`, for a device that has anything to read but a terminal, and with
    `only_file` for whatever is no regular file, without waiting for it. Its `strerror` says which bytes and bound.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (os.O_NONBLOCK if only_file else 0))
    try:
        status = os.fstat(descriptor)
        if only_file and not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if stat.S_ISREG(status.st_mode) and status.st_size > most_bytes:
            size = f"{status.st_size:,} bytes"
            raise OSError(errno.EFBIG, f"it has {size}, and at most {most_bytes:,} are read", str(path))
        is_device = (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)) and not os.isatty(descriptor)
        piece = max(status.st_size, _PIECE) + 1
        parts, room = list[bytes](), most_bytes + 1
        while part := _read(descriptor, min(piece, room)):
            if is_device:
                raise OSError(errno.EINVAL, "a device, and no file", str(path))
            parts.append(part)
            room -= len(part)
            if not room:
                raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes, the most that are read", str(path))
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _read(descriptor: int, most_bytes: int) -> bytes:
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    while not ready.poll(_LOOK_MS):
        pass
    return os.read(descriptor, most_bytes)


def read_text(
    path: os.PathLike[str] | str, encoding: str = "utf-8", most_bytes: int = MOST_SETTINGS, *, only_file: bool = False
) -> str:
    """As `read_whole`, as text whose lines end in a newline. Raises OSError, UnicodeDecodeError."""
    text = read_whole(path, most_bytes, only_file=only_file).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_whole(path: Path, data: bytes | memoryview, *, mode: int = 0o666) -> None:
    """Beside the file first, under another name, so that the file is the old one or the new one at any moment.

    Where a link leads is written to, and a pipe or a device as it is. `mode` is what the umask is taken from. Raises
    OSError.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def write_new(path: Path, text: str) -> None:
    """In UTF-8; nothing is there where it fails. Raises OSError, FileExistsError where something is there already."""
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise


def typed_path(text: str) -> Path:
    """`~` and `~ann` are home folders where they have one, and otherwise names as any: whoever opens it says so."""
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):  # nobody of that name; a NUL in it
        return Path(text)
