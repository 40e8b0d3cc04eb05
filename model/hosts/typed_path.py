"""A path as people write it. Touches no file."""

from pathlib import Path


def typed_path(text: str) -> Path:
    """`~` and `~ann` are home folders where they have one, and otherwise names as any: whoever opens it says so."""
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):  # nobody of that name; a NUL in it
        return Path(text)
