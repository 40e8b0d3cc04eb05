"""A partition folder with one of its files broken: dumped, scanned, looked up in, opened by a broker."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from model.analyses import analysis
from model.analyses.scans.combining import SCAN
from model.analyses.scans.folders import NothingToScanError, ScanParameters, find_logs
from model.log.checkpoints import read_leader_epochs, read_meta_properties, read_offsets, read_topic_id
from model.log.dump.decoders import LogDecoder
from model.log.dump.dump_file import dump_file
from model.log.dump.facts import DumpOptions, file_name
from model.log.names import LEADER_EPOCH_FILE, DamagedFileError
from model.log.records import Codec, Damage, Producer, Record, encode_batch, encode_message_set
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.broken_text import broken_text
from tests.hostile_input.looked_at import NOW_MS
from tests.hostile_input.shown import check_error, check_shown
from tests.hostile_input.target import Target
from tests.segment_corpus import unpack
from tui.engine.logs.reader import LogReader
from tui.engine.logs.segments import batch_page, record_page
from tui.engine.text import plain

_TEXTS = ("leader-epoch-checkpoint", "partition.metadata", "meta.properties", "recovery-point-offset-checkpoint")
_LARGEST = 20_000


@cache
def _files() -> dict[str, list[bytes]]:
    """Files of real brokers by what their names end with, and logs of ours in every format and codec."""
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(unpack(Path(folder)).rglob("*")):
            kind = file_name(path.name)
            if kind is not None and path.is_file() and 0 < path.stat().st_size <= _LARGEST:
                end = path.name if path.name in _TEXTS else path.suffix or path.name
                found.setdefault(end, []).append(path.read_bytes())
    found[".log"] += written_logs()
    found.setdefault("meta.properties", []).append(b"#\n#Fri\nversion=0\nbroker.id=1\ncluster.id=x\n")
    found.setdefault("recovery-point-offset-checkpoint", []).append(b"0\n2\norders 0 12\norders 1 5\n")
    return found


def written_logs() -> list[bytes]:
    """Logs of three records, in every format and codec."""
    records = [
        Record(5, 1000, b"key", b"value" * 9, ((b"h", b"x"),)),
        Record(6, 1001, None, b""),
        Record(9, 900, b"\x1b[2J", None),
    ]
    v2 = [encode_batch(records, codec=codec) for codec in Codec]
    transactional = encode_batch(records, producer=Producer(7, 1, 3, transactional=True))
    old = [encode_message_set(records, magic, codec) for magic in (0, 1) for codec in Codec if codec is not Codec.ZSTD]
    return [b"".join(v2), transactional + v2[0], *v2, *old, b"".join(old)]


def make(random: Random) -> bytes:
    """The file's name, NUL, and what is in it."""
    end = random.choice((".log", ".log", *_files()))
    examples = _files()[end]
    if end in _TEXTS or end.endswith("checkpoint"):
        data = broken_text(random, examples)
    else:
        data = broken(random, random.choice(examples), examples)
    return (end if not end.startswith(".") else "0" * 20 + end).encode() + b"\0" + data


def judge(case: bytes, folder: Path) -> None:
    """Damage is told; nothing raises."""
    written, _, data = case.partition(b"\0")
    name = written.decode()
    partition = folder / "orders-0"
    shutil.rmtree(partition, ignore_errors=True)
    partition.mkdir()
    if not name.endswith(".log"):
        (partition / f"{0:020}.log").write_bytes(_files()[".log"][-1 - len(data) % 3])
    (partition / name).write_bytes(data)
    _dump(partition / name, len(data))
    _read_small_files(partition, partition / name)
    _look(partition)
    _scan(folder)
    try:
        open_log(partition, LogSettings(), Checkpointed(clean=len(data) % 2 == 0), now_ms=NOW_MS)[0].close(
            now_ms=NOW_MS
        )
    except DamagedFileError as error:
        check_error(error)


def _dump(path: Path, which: int) -> None:
    kind = file_name(path.name)
    assert kind is not None
    decoders = (None, LogDecoder.OFFSETS, LogDecoder.TRANSACTION_LOG)
    for as_json in (False, True):
        decoder = decoders[which % len(decoders)]
        options = DumpOptions(
            deep=True,
            contents=True,
            decoder=decoder,
            json=as_json,
            show=lambda text: plain(text.decode("utf-8", "replace")).encode(),
        )
        for part in dump_file(str(path), kind, options):
            if isinstance(part, Damage):
                check_error(f"{part.kind}: {part.cause}")
            elif not isinstance(part, bytes):
                check_error(part.text)
            elif as_json:
                for line in part.splitlines():
                    json.loads(line)
                assert part.isascii()
            else:
                check_shown(part.decode(), ends="\n")


def _read_small_files(partition: Path, path: Path) -> None:
    for read in (
        lambda: read_topic_id(partition),
        lambda: read_meta_properties(partition),
        lambda: read_leader_epochs(partition / LEADER_EPOCH_FILE),
        lambda: read_offsets(path) if path.name.endswith("offset-checkpoint") else None,
    ):
        try:
            read()
        except DamagedFileError as error:
            check_error(error)


def _look(partition: Path) -> None:
    reader = LogReader()
    log = reader.log(str(partition))
    for segment in log.segments:
        for complaint in segment.complaints:
            check_error(complaint)
        path = partition / f"{segment.base_offset:020}.log"
        page = batch_page(path, 0)
        for batch in page.batches[:3]:
            record_page(path, batch.position)
    for wanted in ("offset 0", "offset 7", "time 1970-01-01T00:00:01Z"):
        reader.look_up(str(partition), wanted)


def _scan(folder: Path) -> None:
    try:
        found = find_logs([str(folder)])
    except NothingToScanError as error:
        check_error(error)
        return
    result = analysis.run_here(SCAN, {}, ScanParameters(tuple(found), now_ms=NOW_MS, deep=True))
    assert result is not None


TARGET = Target("log-files", make, judge)
