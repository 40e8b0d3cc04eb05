"""A KRaft node's metadata log as a source: its end, an offset, a time, a snapshot; its past; damage."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import find
from model.cluster.topic_image import unpadded
from model.consumers.ownership import IN_NO_LOG, no_groups
from model.log.records import RecordBatch, scan
from model.log.records.batch import stored_crc
from model.sources.addresses import METADATA_LOG, MetadataLogName, parse_source
from model.sources.feed import Feed, Moment
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from model.sources.source import SourceError
from model.sources.timeline_window import window_around
from tests.model.metadata_log.kept import DATA, LOG, QUORUM, RELEASES, checkpoint
from tests.model.metadata_log.writing import START_MS, batch, topic_id, written


def source_of(name: Path | str) -> MetadataLogSource:
    named = parse_source(str(name))
    assert isinstance(named, MetadataLogName), named
    return MetadataLogSource(named)


def opened(name: Path | str) -> Moment:
    source, moments = source_of(name), list[Moment]()
    source.open(Feed(source.name, moments.append))
    source.close()
    return moments[-1]


def image_of(name: Path | str) -> ClusterImage:
    return opened(name).image


def isr(image: ClusterImage, topic: str, row: int = 0) -> tuple[int, ...]:
    return tuple(sorted(unpadded(image.topics[topic].isr[row])))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the quorum's log, without its snapshots, in a log directory."""
    folder = tmp_path / METADATA_LOG
    folder.mkdir()
    for name in (LOG, "quorum-state"):
        shutil.copyfile(QUORUM / name, folder / name)
    shutil.copyfile(DATA / "4.1.0" / "meta.properties", tmp_path / "meta.properties")
    return folder


@pytest.mark.parametrize("release", RELEASES)
def test_a_stopped_node_of_each_release(release: str) -> None:
    moment = opened(DATA / release)
    image = moment.image
    assert (image.generation, image.controller.broker, image.cluster_id) == ("kraft", 1, "MkU3OEVBNTcwNTJENDM2Qg")
    assert {"orders"} <= image.topics.keys()
    assert len(image.topics["orders"]) == 4
    assert [*image.fenced] == [1]  # it was stopped in order
    assert (image.provenance.complete, moment.status.phase) == (True, "snapshot")


def test_it_says_how_far_it_goes_and_that_its_end_is_not_certain() -> None:
    moment = opened(QUORUM)
    assert moment.status.warning == (
        "metadata log on disk up to offset 163 of epoch 3, 2026-11-24T02:13:59.598Z: "
        "whether a majority had its last records is not known"
    )
    assert moment.image.provenance.zxid == 163
    assert "the node knew of epoch 3" in opened(f"{QUORUM}@80").status.warning


def test_groups_are_unknown_to_it() -> None:
    moment = opened(QUORUM)
    assert no_groups(moment.image) == IN_NO_LOG
    (untold,) = (one for one in moment.findings.found if one.kind == "untold")
    assert (untold.what, untold.action) == (
        "it does not tell consumer groups",
        "Open the cluster's brokers (kafka://…) to know.",
    )


def test_what_every_node_supports_is_kept_until_it_is_unregistered() -> None:
    def supporting(name: str) -> dict[int, tuple[int, int]]:
        metadata = image_of(name).metadata
        return {} if metadata is None else {node: each["metadata.version"] for node, each in metadata.supported.items()}

    assert supporting(f"{QUORUM}@157") == dict.fromkeys(range(1, 7), (7, 33))
    assert supporting(f"{QUORUM}@158") == dict.fromkeys(range(1, 6), (7, 33))


def test_the_log_directory_leads_to_the_log(folder: Path) -> None:
    image = image_of(folder.parent)
    assert image.cluster_id == "MkU3OEVBNTcwNTJENDM2Qg"
    assert image.provenance.source == str(folder)
    assert [*image.topics] == [*image_of(QUORUM).topics]


def test_an_offset_and_a_time_name_the_same_moment() -> None:
    at_offset, at_time = image_of(f"{QUORUM}@71"), image_of(f"{QUORUM}@2026-11-24T02:11:33Z")
    for image in (at_offset, at_time):
        assert isr(image, "elr") == (3,)
        assert sorted(image.fenced) == [4, 5]
    assert at_offset.provenance.zxid == 71
    assert "brokers" not in {finding.kind for finding in find(at_offset).found}


def test_the_middle_of_a_batch_is_no_obstacle() -> None:
    assert [*image_of(f"{QUORUM}@33").topics] == []
    assert len(image_of(f"{QUORUM}@36").topics["elr"]) == 1
    assert len(image_of(f"{QUORUM}@38").topics["elr"]) == 3


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("164", "ends at offset 163, before 164"),
        ("2020-01-01", "what is here begins at 2026-11-24T02:10:35.511Z, not at 2020-01-01T00:00:00Z"),
        ("noon", "'noon' is neither an offset nor a time"),
        ("", "'' is neither an offset nor a time"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(when: str, reason: str) -> None:
    with pytest.raises(SourceError) as raised:
        source_of(f"{QUORUM}@{when}")
    assert reason in str(raised.value)
    assert str(QUORUM) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_snapshot_alone() -> None:
    moment = opened(checkpoint(QUORUM))
    image = moment.image
    assert (image.provenance.zxid, image.controller.broker, image.quorum) == (163, None, None)
    assert sorted(image.brokers) == [1, 2, 3, 4, 5]
    (told,) = (finding for finding in moment.findings.found if finding.kind == "untold")
    assert told.action.startswith("Open the folder of the whole metadata log")


def test_a_log_whose_beginning_was_deleted_begins_with_a_snapshot(folder: Path) -> None:
    whole = image_of(folder)
    data = (folder / LOG).read_bytes()
    cut = next(each.position for each in scan(data) if isinstance(each, RecordBatch) and each.base_offset == 131)
    (folder / LOG).unlink()
    (folder / f"{131:020}.log").write_bytes(data[cut:])
    with pytest.raises(SourceError, match="the log begins at offset 131, and no snapshot leads there"):
        source_of(folder)
    for path in QUORUM.glob("*.checkpoint"):
        shutil.copyfile(path, folder / path.name)
    image = image_of(folder)
    assert image.controller.broker == whole.controller.broker
    assert isr(image, "elr") == isr(whole, "elr")
    assert image.topics["single"].zxid.tolist() == [-1, -1]  # a snapshot does not keep it
    assert image_of(f"{folder}@140").provenance.zxid == 140
    with pytest.raises(SourceError, match="what is here begins at offset 136, not at 100"):
        source_of(f"{folder}@100")


def test_segments_follow_each_other(folder: Path) -> None:
    whole = image_of(folder)
    data = (folder / LOG).read_bytes()
    cut = next(each.position for each in scan(data) if isinstance(each, RecordBatch) and each.base_offset == 131)
    (folder / LOG).write_bytes(data[:cut] + bytes(4096))  # preallocated
    (folder / f"{131:020}.log").write_bytes(data[cut:])
    assert image_of(folder) == whole
    (folder / LOG).unlink()
    (folder / LOG).write_bytes(data[: cut // 2])
    moment = opened(folder)
    assert moment.image.provenance.zxid < 131
    assert "what follows offset" in moment.status.warning


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[:-5], "an entry of"),
        (lambda data: data[:-5] + b"?" + data[-4:], "its CRC does not hold"),
        (lambda data: data + batch([b"\x01\x14\x00\x00"], 170, 3), "goes on at offset 170"),
        (lambda data: data + batch([b"\x01\x14\x00\x00"], 164, 2), "goes on in epoch 2 at offset 164, after epoch 3"),
        (lambda data: data + batch([b"\x01\x17\x00\x00"], 164, 3), "the transaction at its end is not complete"),
        (lambda data: data + batch([b"\x01\x8f\x4e\x00"], 164, 3), "the first at offset 164: 1 times Unknown metadata"),
    ],
)
def test_damage_is_told_and_what_stands_before_it_is_shown(folder: Path, damage: Any, said: str) -> None:
    (folder / LOG).write_bytes(damage((folder / LOG).read_bytes()))
    moment = opened(folder)
    assert said in moment.status.warning
    assert isr(moment.image, "elr") == (1, 3, 4)


def test_snapshots_that_are_not_whole_are_not_used(folder: Path, tmp_path: Path) -> None:
    newest = checkpoint(QUORUM)
    alone = tmp_path / newest.name
    alone.write_bytes(newest.read_bytes()[:-75])
    with pytest.raises(SourceError, match="lacks its header or footer"):
        source_of(alone)
    alone.write_bytes(b"")
    with pytest.raises(SourceError, match="lacks its header or footer"):
        source_of(alone)
    (folder / LOG).unlink()
    shutil.copyfile(sorted(QUORUM.glob("*.checkpoint"))[1], folder / sorted(QUORUM.glob("*.checkpoint"))[1].name)
    (folder / newest.name).write_bytes(newest.read_bytes()[:-75])
    moment = opened(folder)
    assert moment.image.provenance.zxid == 136
    assert "lacks its header or footer" in moment.status.warning


def test_an_empty_log_and_notes_that_are_none(folder: Path) -> None:
    huge = [b'{"leaderId": 2, "leaderEpoch": %s}' % epoch for epoch in (b"1" * 1_000, b"1" * 5_000, b"1e999")]
    for noted in (b"", b"{", b"[1]", b'{"leaderId": "x"}', b"\xff", b"[" * 5000, *huge):
        (folder / "quorum-state").write_bytes(noted)
        assert image_of(folder).controller.broker == 1
    (folder / LOG).write_bytes(b"")
    with pytest.raises(SourceError, match="the log is empty"):
        source_of(folder)


def test_who_leads_is_taken_from_the_nodes_notes_where_the_log_does_not_say(folder: Path) -> None:
    noted = json.loads((folder / "quorum-state").read_text())
    (folder / "quorum-state").write_text(json.dumps({**noted, "leaderId": 2, "leaderEpoch": 9}))
    image = image_of(folder)
    assert (image.controller.broker, image.controller.epoch) == (2, 9)
    assert image_of(f"{folder}@163").controller.broker == 1


def test_what_was_before_is_played_as_a_recordings_is() -> None:
    source = source_of(QUORUM)
    window = window_around(source, source.opened_ms, lambda *_: None, lambda: False)
    timeline = window.timeline
    assert (window.is_first, window.is_last) == (True, True)
    end = image_of(QUORUM)
    assert msgspec.structs.replace(timeline.image, provenance=end.provenance) == end
    kinds = [change.kind for change in timeline.feed]
    assert {"broker-lost", "isr-shrunk", "isr-expanded", "controller-moved", "last-known-leader"} <= set(kinds)
    killed = timeline.with_zxid(63)
    assert killed is not None
    assert sorted(timeline.image_of(killed).fenced) == [4]


def test_less_of_the_past_is_played_around_a_moment() -> None:
    source = source_of(f"{QUORUM}@68")
    stretch = source.around(source.opened_ms, 10)
    assert (stretch.count, stretch.is_first, stretch.is_last) == (10, False, False)
    images = [*source.images(stretch.from_ms, stretch.to_ms)]
    assert len(images) >= 10
    assert stretch.from_ms <= source.opened_ms <= stretch.to_ms


T = topic_id(7)
VALUES = (
    written("Topic", name="t", topicId=T),
    written("Partition", partitionId=0, topicId=T, replicas=[1], isr=[1], leader=1, directories=[T]),
    written("PartitionChange", partitionId=0, topicId=T, isr=[]),
    written("RemoveTopic", topicId=T),
    written("BeginTransaction"),
    written("EndTransaction"),
    written("AbortTransaction"),
    written("RegisterBroker", brokerId=1),
    written("ClearElr", topicName="t"),
)

RECORDS = st.lists(st.one_of(st.sampled_from(VALUES), st.binary(max_size=30)), min_size=1, max_size=6)
MADE_UP = st.lists(st.tuples(RECORDS, st.booleans()), max_size=6)
"""Records of batches, and whether an epoch begins with each."""
SPOTS = st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8)), max_size=3)


def hostile(folder: Path, data: bytes, spots: list[tuple[int, bytes]], name: str = LOG) -> None:
    """Writes a file with bytes replaced here and there; opened, it is shown or refused in one line."""
    for spot, replacement in spots:
        at = spot % (len(data) + 1)
        data = data[:at] + replacement + data[at + len(replacement) :]
    (folder / name).write_bytes(data)
    said = ""
    try:
        said = opened(folder / name if name.endswith(".checkpoint") else folder).status.warning
    except SourceError as error:
        said = str(error)
    assert said
    assert "\n" not in said


@settings(max_examples=200, deadline=None)
@given(MADE_UP, SPOTS)
def test_any_log_is_shown_or_refused(tmp_path_factory: pytest.TempPathFactory, made: Any, spots: Any) -> None:
    folder, data, offset, epoch = tmp_path_factory.getbasetemp() / "hostile", b"", 0, 1
    folder.mkdir(exist_ok=True)
    for values, is_next_epoch in made:
        epoch += is_next_epoch
        data += batch(values, offset, epoch, START_MS + offset)
        offset += len(values)
    hostile(folder, data, spots)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([DATA / "4.1.0" / LOG, *sorted(QUORUM.glob("*.checkpoint"))]), SPOTS, st.booleans())
def test_any_damage_to_real_files_is_survived(
    tmp_path_factory: pytest.TempPathFactory, path: Path, spots: Any, has_sound_crcs: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    data = bytearray(path.read_bytes())
    for at, replacement in spots if has_sound_crcs else ():
        batches = [each for each in scan(bytes(data)) if isinstance(each, RecordBatch) and each.size > 70]
        for each in batches[at % len(batches) :][:1]:
            place = each.position + 61 + at % (each.size - 61 - len(replacement))
            data[place : place + len(replacement)] = replacement
            data[each.position + 17 : each.position + 21] = struct.pack(
                ">I", stored_crc(bytes(data[each.position : each.end]), 2)
            )
    hostile(folder, bytes(data), [] if has_sound_crcs else spots, path.name)
