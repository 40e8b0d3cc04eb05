"""Keys of rows: a partition folder, then a segment of it, a batch in that, a record in that; tabs between them.

A path may hold anything, tabs as well; so keys are taken apart from their end, where there are only numbers.
"""

import os


def path_key(path: str) -> str:
    """A path as a key. Names that are no UTF-8 become readable, and lead nowhere."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def key_of(path: str, *numbers: int) -> str:
    """A segment's base offset, a batch's position in bytes, a record's offset; as many as are known."""
    return "\t".join((path, *map(str, numbers)))


def parts_of(key: str, count: int) -> tuple[str, tuple[int, ...]] | None:
    """The path and `count` numbers; None for what is no such key."""
    parts = key.rsplit("\t", count)
    try:
        numbers = tuple(int(part) for part in parts[1:])
    except ValueError:
        return None
    return (parts[0], numbers) if len(numbers) == count and parts[0] else None
