"""How large partitions are, where the source is a snapshot that says so (`size_bytes`); no other source knows."""

from pathlib import Path

from model.cluster.snapshot_file import SnapshotError, read_document
from model.planning.sizes import Sizes, sizes_of
from model.sources.naming import parse_source
from model.sources.source import SourceError


def known_sizes(source: str) -> Sizes | None:
    """The sizes in the file that a source's name names; None where it has none, or is no file (any more)."""
    try:
        path = parse_source(source)
        if isinstance(path, Path) and path.is_file():
            return sizes_of(read_document(path), source)
    except (SourceError, SnapshotError, ValueError):
        return None
    return None
