"""Screen 2 of a KRaft cluster: records of its metadata log as they come, and who wrote what; screen b: who led when."""

from __future__ import annotations

from collections.abc import Sequence

from model.cluster import records as r
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.sources.addresses import MetadataLogName
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from model.sources.source import FactBatch, Sink, SourceStatus
from tests.model.metadata_log.kept import QUORUM
from tests.model.metadata_log.writing import topic_id, written
from tests.tui.dashboard import NOW_MS, kdrill, opened_on, press, rows, settled, text, until
from tui.app.screens.overlays import Describe

ORDERS = topic_id(7)


class Log:
    """A source like `controllers://`: tells what records say, as they are written."""

    name = "controllers://c1:9093"

    def __init__(self) -> None:
        self._replay, self._offset = Replay(), -1
        self._sink: Sink | None = None

    def open(self, sink: Sink) -> None:
        self._sink = sink
        self.write(
            written("FeatureLevel", name="metadata.version", featureLevel=25),
            written("Topic", name="orders", topicId=ORDERS),
            written("Partition", partitionId=0, topicId=ORDERS, replicas=[1, 2], isr=[1, 2], leader=1),
            listing=True,
        )
        sink.report(SourceStatus("live", since_ms=NOW_MS, verified_ms=NOW_MS))

    def write(self, *values: bytes, listing: bool = False) -> None:
        assert self._sink is not None
        for value in values:
            self._offset += 1
            self._replay.take(value, RecordPlace(self._offset, 1, NOW_MS))
        facts: Sequence[r.ClusterRecord] = self._replay.facts(RecordPlace(self._offset, 1, NOW_MS))
        facts = (r.GenerationRecognised(generation="kraft"), *facts) if listing else facts
        self._sink.take(FactBatch(tuple(facts), self._offset, NOW_MS, listing=listing, logged=self._replay.logged()))

    def shrink(self, *isr: int) -> None:
        self.write(written("PartitionChange", partitionId=0, topicId=ORDERS, isr=[*isr]))

    def close(self) -> None:
        """Nothing runs."""


async def test_the_tail_follows_until_it_is_scrolled() -> None:
    log = Log()
    async with opened_on(log, size=(120, 40)) as pilot:
        await press(pilot, "2", "semicolon")
        await until(pilot, lambda: rows(pilot, "records").total == 3)
        assert kdrill(pilot).screen.focused is rows(pilot, "records")
        log.shrink(1)
        await until(pilot, lambda: rows(pilot, "records").cursor_key == "3")
        assert "PartitionChange v2" in text(pilot)
        await press(pilot, "j")
        assert rows(pilot, "records").cursor_key == "2"
        log.shrink(1, 2)
        await until(pilot, lambda: rows(pilot, "records").total == 5)
        await settled(pilot)
        assert rows(pilot, "records").cursor_key == "2", "it stands where it was put"
        await press(pilot, "g")
        log.shrink(2)
        await until(pilot, lambda: rows(pilot, "records").cursor_key == "5")
        await press(pilot, "semicolon")
        assert "Records, newest first" not in text(pilot)


async def test_the_tail_is_filtered_by_what_it_shows() -> None:
    log = Log()
    async with opened_on(log, size=(120, 40)) as pilot:
        log.shrink(1)
        await press(pilot, "2", "semicolon", "slash", *"record:change", "enter")
        await until(pilot, lambda: rows(pilot, "records").total == 1)
        assert rows(pilot, "records").cursor_key == "3"


async def test_an_entry_has_the_records_that_wrote_it() -> None:
    log = Log()
    async with opened_on(log, size=(120, 40)) as pilot:
        log.shrink(1)
        await press(pilot, "2")
        kdrill(pilot).show_znode("/topics/orders/0/data")
        await until(pilot, lambda: rows(pilot, "znodes").cursor_key == "/topics/orders/0/data")
        await until(pilot, lambda: "written by PartitionChange v2, offset 3" in text(pilot))
        await press(pilot, "H")
        assert isinstance(kdrill(pilot).screen, Describe)
        await until(pilot, lambda: "isr 1,2 -> 1" in text(pilot))
        assert text(pilot).index("PartitionChange v2") < text(pilot).index("Partition v2")
        await press(pilot, "escape", "semicolon", "g", "d")
        await until(pilot, lambda: "offset    3, epoch 1" in text(pilot))
        await press(pilot, "escape", "o")
        assert kdrill(pilot).screen.focused is rows(pilot, "znodes")


async def test_screen_b_says_who_led_from_when_to_when() -> None:
    source = MetadataLogSource(MetadataLogName(QUORUM))
    async with opened_on(source, size=(160, 50), phase="snapshot") as pilot:
        await press(pilot, "b")
        await until(pilot, lambda: "Elections" in text(pilot))
        said = " ".join(text(pilot).split())
        assert "controller 3 2026-11-24" in said
        assert "02:12:45" in said
