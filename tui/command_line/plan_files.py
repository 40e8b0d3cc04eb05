"""Files of `kdrill plan`: sizes read, plans and rollbacks written. Every failure is one line."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from model.cluster.snapshot_file import SnapshotError, read_document
from model.cluster.whole_file import MOST_FACTS, read_whole, write_whole
from model.interchange.election_file import election_text
from model.interchange.topics_text import is_topics_text
from model.planning import kafka_file
from model.planning.plan import Plan
from model.planning.sizes import Sizes, sizes_of
from model.sources.naming import parse_source


def sizes_for(source: str, file: Path | None) -> Sizes | None:
    """From the file, or else from the snapshot that the source is. Raises click.ClickException."""
    if file is not None:
        found = _sizes_in(file)
        if found is None:
            raise click.ClickException(f"{file}: a snapshot without sizes (size_bytes)")
        return found
    named = parse_source(source) if source else None
    if not isinstance(named, Path) or not named.is_file() or is_topics_text(read(named)):
        return None
    return _sizes_in(named)


def write(
    plan: Plan, output: Path | None, rollback: Path | None, *, as_batches: bool, is_bare: bool = False
) -> Iterator[Path]:
    """The plan and its rollback, and with `as_batches` each batch in a file of its own, too; yields what it wrote.

    `is_bare`: nothing but the moves.
    """
    for path, make in ((output, kafka_file.forward), (rollback, kafka_file.rollback)):
        if path is None:
            continue
        yield _written(path, make(plan, is_bare=is_bare))
        for batch in plan.batches if as_batches else ():
            digits = len(str(len(plan.batches)))
            numbered = path.with_name(f"{path.stem}-{batch.number:0{digits}}{path.suffix}")
            yield _written(numbered, make(plan, plan.changes[batch.first : batch.end], is_bare=is_bare))


def write_election(plan: Plan, path: Path) -> bool:
    """The partitions to which the plan gives another preferred leader, for Kafka's election tool; False where none."""
    names = [change.name for change in plan.changes if change.before[:1] != change.after[:1]]
    if names:
        _written(path, election_text(names))
    return bool(names)


def read(path: Path) -> bytes:
    """A file's content. Raises click.ClickException."""
    try:
        return read_whole(path, MOST_FACTS)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be read: {error.strerror or error}") from None


def _sizes_in(path: Path) -> Sizes | None:
    data = read(path)
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = None  # compressed, or broken: the reader of snapshots knows
    try:
        if not isinstance(document, dict) or "format" in document:
            document = read_document(path, data)
        return sizes_of(document, str(path))
    except (SnapshotError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def _written(path: Path, text: str) -> Path:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from None
    return path
