"""One file shown: its kind is known by its name, its parts come in order, as text or as JSON lines."""

import os
from collections.abc import Iterator
from pathlib import Path

from model.log.dump.facts import Fact, Line
from model.log.dump.index_facts import index_facts
from model.log.dump.index_files import transaction_index_entries
from model.log.dump.json_lines import json_lines
from model.log.dump.kinds import FileName, Kind
from model.log.dump.log_facts import log_facts
from model.log.dump.parts import DumpOptions, Part, Remark
from model.log.dump.snapshot_file import snapshot_producers
from model.log.dump.text_files import epoch_checkpoint, offset_checkpoint, properties
from model.log.records import Damage, SegmentFile, Source

_NAMED_BY_OFFSET = frozenset({Kind.LOG, Kind.OFFSET_INDEX, Kind.TIME_INDEX})


def dump_file(path: str, name: FileName, options: DumpOptions) -> Iterator[Part]:
    """The file's lines and what is wrong with it. `path` is shown as given. Raises OSError if it can't be read."""
    with SegmentFile(path) as source:
        if name.base_offset is None and name.kind in _NAMED_BY_OFFSET:
            yield Remark(0, "the name holds no base offset: 0 is assumed")
        if options.json:
            yield from json_lines(_facts(source, path, name, options), path, name, source.size)
            return
        yield b"Dumping %b\n" % options.show(os.fsencode(path))
        if name.kind is Kind.LOG:
            yield b"Log starting offset: %d\n" % (name.base_offset or 0)
        elif name.title:
            yield b"%b\n" % name.title.encode()
        if name.kind in (Kind.LOG, Kind.METADATA_SNAPSHOT):
            from model.log.dump.log_text import log_text  # noqa: PLC0415 - takes numpy

            yield from log_text(source, Path(path).name, options)
            return
        for part in _facts(source, path, name, options):
            if isinstance(part, Line):
                yield options.show(part.line().encode()) + b"\n"
            elif not isinstance(part, Fact):
                yield part


def _facts(source: Source, path: str, name: FileName, options: DumpOptions) -> Iterator[Fact | Damage | Remark]:
    match name.kind:
        case Kind.LOG | Kind.METADATA_SNAPSHOT:
            return log_facts(source, options)
        case Kind.OFFSET_INDEX | Kind.TIME_INDEX:
            return index_facts(source, path, name, options)
        case Kind.TRANSACTION_INDEX:
            return transaction_index_entries(source)
        case Kind.PRODUCER_SNAPSHOT:
            return snapshot_producers(source)
        case Kind.OFFSET_CHECKPOINT:
            return offset_checkpoint(source)
        case Kind.EPOCH_CHECKPOINT:
            return epoch_checkpoint(source)
        case Kind.PROPERTIES:
            return properties(source)
