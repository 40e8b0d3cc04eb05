"""What a dump is made of: printed bytes, damage, and remarks; and what an operator asked for."""

from dataclasses import dataclass

import msgspec

from model.log.dump.decoders import Decoder
from model.log.dump.java_text import Show, as_java_prints
from model.log.records import Damage


class Remark(msgspec.Struct, frozen=True):
    """Something worth knowing that is no damage: gaps after compaction, the zeros of a file that is in use."""

    position: int
    """In bytes from the start of the file."""
    text: str


class OlderRule(Remark, frozen=True):
    """Index entries that fit the log by the rule of an older release; DumpLogSegments 3.9 takes them for mismatches."""


Part = bytes | Damage | Remark
"""Bytes are whole lines to print; damage and remarks are about lines before or after them."""


@dataclass(frozen=True)
class DumpOptions:
    """What to show. The index options are those of DumpLogSegments."""

    deep: bool = False
    """Records, not only batches."""
    contents: bool = False
    """Keys and payloads; goes with `deep`."""
    decoder: Decoder | None = None
    """What keys and payloads are; None for text."""
    json: bool = False
    verify_index_only: bool = False
    """Checks index entries and prints none."""
    index_sanity_check: bool = False
    """Looks at an index file's size and ends only."""
    show: Show = as_java_prints
