"""KRaft's metadata: files of a node that are broken or made up, and what controllers answer to an observer.

Half of the broken batches get a CRC that holds: only then does anybody look at what is in them.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.hosts.observing.controller_wire import answer_of
from model.hosts.wire.messages import decode_response, encode_response, response_schema, versions_known
from model.hosts.wire.names import ApiKey, WireError
from model.log.dump.decoders import LogDecoder
from model.log.dump.dump_file import dump_file
from model.log.dump.facts import DumpOptions, file_name
from model.log.records import Codec, Damage, Record, encode_batch
from model.log.records.batch import crc32c
from model.log.records.layout import BATCH_CRC_START, BATCH_SIZE, LOG_OVERHEAD
from model.metadata_log.replay import SNAPSHOT_FOOTER, SNAPSHOT_HEADER
from model.metadata_log.schemas import RECORDS
from model.observer import past
from model.observer.follow import begin, decide
from model.observer.messages import (
    Answer,
    Answered,
    Ask,
    BatchesCommitted,
    DescribeControllers,
    DescribeQuorum,
    FetchLog,
    FetchSnapshot,
    KnownLeader,
    LogFetched,
    LogPosition,
    Question,
    QuorumSeen,
    SnapshotFetched,
    SnapshotGrew,
    SnapshotRead,
    TimePassed,
    Unanswered,
)
from model.observer.observed_log import GarbledError
from model.observer.past import PastReading
from model.recordings.folder import RecordingError
from model.sources.addresses import MetadataLogName
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from model.sources.metadata_log.recorded import record_log
from model.sources.quorum.facts import LogFacts
from model.sources.quorum.past_moments import PastMoments
from model.sources.source import FactBatch, SourceError, SourceStatus
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.broken_text import broken_text
from tests.hostile_input.looked_at import look_at
from tests.hostile_input.random_entities import random_entity
from tests.hostile_input.shown import check_error, check_lines
from tests.hostile_input.target import Target
from tests.model.metadata_log.kept import DATA, files, values
from tests.model.metadata_log.snapshot_writer import control, snapshot
from tui.engine.cluster.record_pages import record_history, record_text, records_listing, tell_terms
from tui.engine.sheets import Sheet
from tui.engine.text import plain

_LOG = f"{0:020}.log"
_CHECKPOINT = f"{40:020}-{1:010}.checkpoint"
_TEXTS = ("quorum-state", "meta.properties")
_TIMES = (1_000, 1_000, 1_700_000_000_000, 4_000_000_000_000)
_LARGEST_OFFSET = 2**63 - 200
"""Where a log begins at most: offsets behind it fit their field."""
_SMALL = 30_000
"""Bytes of a real file that is broken."""


@cache
def _files(ends: str) -> list[bytes]:
    found = [path.read_bytes() for path in sorted(DATA.glob(f"*/*{ends}")) if path.stat().st_size < _SMALL]
    return [*found, b"".join(snapshot(2, 30))] if ends == ".checkpoint" else found


@cache
def _values() -> list[bytes]:
    """Of real records, each kind once at least, and of partitions of which each is like the one before."""
    real = sorted({value for path in files() for value in values(path)})
    return real + [record for record in real if record.startswith((b"\1\3", b"\1\5"))]


def _make_file(random: Random) -> bytes:
    """The file's name, NUL, and what is in it."""
    match random.randrange(8):
        case 0:
            name = random.choice(_TEXTS)
            return name.encode() + b"\0" + broken_text(random, _files(name))
        case 1 | 2:
            ends = random.choice((".log", ".checkpoint"))
            data = broken(random, random.choice(_files(ends)), _files(ends))
        case 3 | 4 | 5:
            ends, data = ".checkpoint", b"".join(_made_up_snapshot(random))
        case _:
            ends, data = ".log", _log(random, random.choice((0, 0, 3)))
    return (_LOG if ends == ".log" else _CHECKPOINT).encode() + b"\0" + data


def _made_up_snapshot(random: Random) -> Iterator[bytes]:
    """Of epoch 1."""
    header, *_ = snapshot(1, 1)
    if random.random() < 0.95:
        yield header
    batches = [*_batches(random, 1, 0.0)]
    yield from (batch for batch, _ in batches)
    if random.random() < 0.95:
        yield control(batches[-1][1], SNAPSHOT_FOOTER, bytes(3), 1)


def _log(random: Random, offset: int) -> bytes:
    return b"".join(batch for batch, _ in _batches(random, min(offset, _LARGEST_OFFSET), 0.05))


def _batches(random: Random, offset: int, elected: float) -> Iterator[tuple[bytes, int]]:
    """Batches of made-up records, and the offset behind each; their CRCs hold. `elected`: how often the epoch rises."""
    epoch = 1
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.1:
            offset += 1
            yield _control(random, offset - 1, epoch), offset
            continue
        made = [_value(random) for _ in range(random.choice((1, 2, 5, 40)))]
        time_ms = random.choice(_TIMES) + random.choice((0, 7, 200_000_000))
        records = [Record(offset + number, time_ms, None, value) for number, value in enumerate(made)]
        batch = encode_batch(records, leader_epoch=epoch, codec=random.choice((Codec.NONE, Codec.NONE, *Codec)))
        offset += len(records)
        yield _with_other_body(random, batch) if random.random() < 0.2 else batch, offset
        epoch += random.random() < elected


def _control(random: Random, offset: int, epoch: int) -> bytes:
    value = random.randbytes(random.choice((0, 2, 3, 11, 40)))
    if random.random() < 0.5:
        value = broken(random, struct.pack(">hiB", 0, 1, 3) + bytes(12))
    return control(offset, random.choice((2, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, 5, 6, 99)), value, epoch)


def _with_other_body(random: Random, batch: bytes) -> bytes:
    """What the CRC covers is broken: attributes, times, the count of records and these; length and CRC are right."""
    body = broken(random, batch[BATCH_CRC_START:]) + bytes(BATCH_SIZE)
    length = BATCH_CRC_START + len(body) - LOG_OVERHEAD
    start = batch[:8] + struct.pack(">i", length) + batch[LOG_OVERHEAD : BATCH_CRC_START - 4]
    return start + struct.pack(">I", crc32c(body)) + body


def _value(random: Random) -> bytes | None:
    if random.random() < 0.02:
        return None
    if random.random() < 0.1:
        key = random.choice((*(schema.key for schema in RECORDS), 127))
        return bytes((1, key, random.randrange(5))) + random.randbytes(random.randrange(60))
    value = random.choice(_values())
    return broken(random, value, _values(), 2) if random.random() < 0.3 else value


class _Sink:
    """Who shows what a source tells."""

    def __init__(self) -> None:
        self._delta = ClusterDelta(EMPTY)

    def take(self, batch: FactBatch) -> None:
        self._delta.replay_all(batch.records)

    def report(self, status: SourceStatus) -> None:
        for text in (status.reason, status.warning):
            if text:
                check_error(text)

    def look(self) -> None:
        look_at(self._delta.apply(Provenance("hostile", 1, 1_000, complete=True)))


def _judge_file(case: bytes, folder: Path) -> None:
    """What is sound is shown; one line says what is not."""
    written, _, data = case.partition(b"\0")
    try:
        name = {each.encode(): each for each in (_LOG, _CHECKPOINT, *_TEXTS)}[written]
    except KeyError:  # made blindly
        name, data = _LOG, case
    place = folder / "__cluster_metadata-0"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if name in _TEXTS:
        (place / _LOG).write_bytes(_files(".log")[-1])
    (place / name).write_bytes(data)
    offset = len(data) % 40
    for asked in (MetadataLogName(place), MetadataLogName(place, offset=offset), MetadataLogName(place, at_ms=1_000)):
        _open(asked)
    if name == _CHECKPOINT:
        _open(MetadataLogName(place / name))
    if name not in _TEXTS:
        _dump(place / name)
    if not offset % 4:
        _record(place, folder / "recorded")


def _open(name: MetadataLogName) -> None:
    sink = _Sink()
    try:
        source = MetadataLogSource(name)
        source.open(sink)
        stretch = source.around(source.opened_ms, 3)
        for _at_ms, image in islice(source.images(stretch.from_ms, stretch.to_ms), 3):
            assert image is not None
    except SourceError as error:
        check_error(error)
    sink.look()


def _record(path: Path, folder: Path) -> None:
    """As history is told of it."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        record_log(path, folder, check_error)
    except RecordingError as error:
        check_error(error)


def _dump(path: Path) -> None:
    kind = file_name(path.name)
    assert kind is not None
    options = DumpOptions(
        deep=True,
        contents=True,
        decoder=LogDecoder.CLUSTER_METADATA,
        show=lambda text: plain(text.decode("utf-8", "replace")).encode(),
    )
    for part in dump_file(str(path), kind, options):
        if not isinstance(part, bytes):
            check_error(f"{part.kind}: {part.cause}" if isinstance(part, Damage) else part.text)


_MOST_ANSWERS = 30
_APIS = {
    FetchLog: ApiKey.FETCH,
    FetchSnapshot: ApiKey.FETCH_SNAPSHOT,
    DescribeQuorum: ApiKey.DESCRIBE_QUORUM,
    DescribeControllers: ApiKey.DESCRIBE_CLUSTER,
}
_ERRORS = ("FENCED_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_SERVER_ERROR", "BROKER_NOT_AVAILABLE", "NONSENSE")
_NUMBERS = (-1, 0, 1, 2, 40, 2**31 - 1, -(2**31), 2**63 - 1)


def _make_answers(random: Random) -> bytes:
    """What the answers are drawn by: they depend on what is asked."""
    return random.randbytes(8)


def _judge_answers(case: bytes, _folder: Path) -> None:
    """An observer among controllers that answer anything: what it hands on makes facts, a clause tells the rest."""
    random = Random(case)
    facts, now_ms = LogFacts(_replayed), 50_000
    decision = begin((("a", 9093), ("b", 9093)), now_ms)
    for _ in range(_MOST_ANSWERS):
        if decision.standing.reason:
            check_error(decision.standing.reason)
        for command in decision.commands:
            if isinstance(command, SnapshotGrew | SnapshotRead | BatchesCommitted | QuorumSeen):
                facts.take(command)
        if decision.standing.phase == "live":
            facts.list(decision.standing.cluster_id)
        if facts.trouble:
            check_error(facts.trouble)
        if decision.state.ended:
            return
        now_ms += random.choice((1, 100, 3_000))
        asks = [command for command in decision.commands if isinstance(command, Ask)]
        event = Answered((ask := random.choice(asks)).number, _answer(random, ask.question)) if asks else TimePassed()
        decision = decide(decision.state, event, now_ms)


def _make_past(random: Random) -> bytes:
    return random.randbytes(8)


def _judge_past(case: bytes, _folder: Path) -> None:
    """The log read from its start at leaders that answer anything: what came is shown, a clause tells the rest."""
    random = Random(case)
    moments = PastMoments("hostile", None)
    reading: PastReading | None = past.begin(1, random.choice((1, 3, 40, 4_000)))
    try:
        for _ in range(_MOST_ANSWERS):
            if reading is None:
                break
            reading, handed = past.read_on(reading, _answer(random, reading.question))
            for each in handed:
                moments.take(each)
    except (past.NoPastError, GarbledError) as error:
        check_error(str(error))
    records = moments.records()[-20:]
    for record in records:
        check_lines(record_text(records, str(record.offset), 80).lines)
    check_lines(record_history("/", records, 80).lines)
    check_lines(cell for number in range(len(records)) for cell in records_listing(records).row(number).cells)
    sheet = Sheet("hostile", 80)
    tell_terms(sheet, [record for record in records if record.is_of_quorum], 1 << 62)
    check_lines(sheet.answer().lines)
    timeline = moments.timeline(lambda _: False)
    if timeline.instants:
        look_at(timeline.image)


def _replayed(batch: FactBatch) -> None:
    look_at(ClusterDelta(EMPTY).replay_all(batch.records).apply(Provenance("hostile", batch.zxid, batch.time_ms)))


def _answer(random: Random, question: Question) -> Answer:
    """One that a leader may give, bytes of no sense, or none."""
    if random.random() < 0.7 and isinstance(question, FetchLog | FetchSnapshot):
        return _likely(random, question)
    key = _APIS[type(question)]
    lowest, newest = versions_known(key)
    version = random.randint(max(lowest, 13) if key is ApiKey.FETCH else lowest, newest)
    data = _log(random, 0)
    body = random_entity(random, response_schema(key, version), (b"", data, broken(random, data)))
    try:
        encoded = b"".join(encode_response(body, 1))
    except (ValueError, TypeError, struct.error, OverflowError):  # values that no schema takes together
        encoded = bytes(8)
    try:
        given = broken(random, encoded) if random.random() < 0.3 else encoded
        return answer_of(question, decode_response(given, key, version)[1])
    except WireError as error:
        check_error(error)
        return Unanswered(str(error))


def _likely(random: Random, question: FetchLog | FetchSnapshot) -> Answer:
    error = random.choice(_ERRORS) if random.random() < 0.05 else "NONE"
    leader = KnownLeader(1, max(question.epoch, 1) if random.random() < 0.95 else random.choice(_NUMBERS))
    if isinstance(question, FetchSnapshot):
        data = b"".join(_made_up_snapshot(random))
        size = len(data) if random.random() < 0.9 else random.choice(_NUMBERS)
        return SnapshotFetched("NONE", error, leader, {}, question.snapshot, size, question.position, data)
    if not question.epoch:
        return LogFetched(error="FENCED_LEADER_EPOCH", leader=leader, endpoints={1: ("a", 9093)})
    assert question.end.offset < 2**63, "an offset that no request can hold"
    position = LogPosition(random.choice((*_NUMBERS, 1_000, 2_000, 3_000)), 1) if random.random() < 0.3 else None
    is_snapshot = random.random() < 0.8
    return LogFetched(
        error=error,
        leader=leader,
        high_watermark=random.choice((question.end.offset + 9, *_NUMBERS)),
        snapshot=position if is_snapshot else None,
        diverging=None if is_snapshot else position,
        records=_log(random, question.end.offset),
        log_start=random.choice((0, 0, 1, 3, *_NUMBERS)),
    )


FILES = Target("metadata-logs", _make_file, _judge_file)
ANSWERS = Target("controller-answers", _make_answers, _judge_answers)
PAST = Target("controllers-past", _make_past, _judge_past)
