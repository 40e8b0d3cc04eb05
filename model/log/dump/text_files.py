"""Files of text in a log folder: checkpoints of a version, a count and lines; and properties."""

from collections.abc import Callable, Iterator

from model.log.checkpoints.text_checkpoint import INT32, INT64, whole_number
from model.log.dump.facts import EpochStart, Fact, PartitionOffset, Property
from model.log.dump.java_text import java_text
from model.log.records import Damage, DamageKind, Source

_PIECE = 1 << 16
_LONGEST_LINE = 1 << 16


def offset_checkpoint(source: Source) -> Iterator[Fact | Damage]:
    """Offsets by partition (`OffsetCheckpointFile` 3.9)."""

    def parse(words: list[str]) -> PartitionOffset:
        return PartitionOffset(words[0], whole_number(words[1], INT32), whole_number(words[2], INT64))

    return _checkpoint(source, parse, 3)


def epoch_checkpoint(source: Source) -> Iterator[Fact | Damage]:
    """Leader epochs and where they start (`LeaderEpochCheckpointFile` 3.9); both have to rise."""
    last = EpochStart(-1, -1)

    def parse(words: list[str]) -> EpochStart:
        nonlocal last
        before, last = last, EpochStart(whole_number(words[0], INT32), whole_number(words[1], INT64))
        if last.epoch <= before.epoch or last.start_offset <= before.start_offset:
            raise ValueError(f"comes after epoch {before.epoch} from {before.start_offset}")
        return last

    return _checkpoint(source, parse, 2)


def properties(source: Source) -> Iterator[Fact | Damage]:
    """Java properties; and partition.metadata, whose lines look like `key: value`."""
    for at, line in _lines(source):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, sign, value = text.partition(":" if ": " in text and "=" not in text else "=")
        if sign:
            yield Property(key.strip(), value.strip())
        else:
            yield _damage(at, "a line without a key and a value")


def _checkpoint(source: Source, parse: Callable[[list[str]], Fact], words: int) -> Iterator[Fact | Damage]:
    lines = _lines(source)
    head = [line for _, line in (next(lines, (0, "")), next(lines, (0, "")))]
    if source.size == 0:
        return
    if head[0].strip() != "0":
        yield _damage(0, f"version {head[0][:20]!r}, only 0 is known")
        return
    found = 0
    for at, line in lines:
        try:
            parts = line.split()
            if len(parts) != words:
                raise ValueError(f"has {len(parts)} words, not {words}")
            yield parse(parts)
        except ValueError as error:
            yield _damage(at, f"{line[:80]!r} {error}")
        found += 1
    if head[1].strip() != str(found):
        yield _damage(0, f"{head[1][:20]!r} entries are declared, {found} are there")


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Lines and where they start; a line without an end is cut."""
    at, held = 0, b""
    for position in range(0, source.size, _PIECE):
        held += bytes(source.read(position, _PIECE))
        *whole, held = held.split(b"\n")
        for line in whole:
            yield at, java_text(line)
            at += len(line) + 1
        if len(held) > _LONGEST_LINE:
            break
    if held:
        yield at, java_text(held[:_LONGEST_LINE])


def _damage(at: int, cause: str) -> Damage:
    return Damage(at, 0, DamageKind.BAD_ENTRY, cause)
