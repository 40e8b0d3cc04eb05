"""A real ZooKeeper's changing tree, recorded: every moment can be rebuilt, and the last equals a fresh load."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec

from model.cluster.cluster_image import ClusterImage, Provenance
from model.recordings.folder import the_cluster_in
from model.recordings.playback import image_at
from model.recordings.recorder import Recorder, Rolling
from model.sources.feed import Moment
from tests.model.recordings.lives import without_secrets
from tests.zookeeper.followed import Followed, facts, followed, loaded
from tests.zookeeper.kafka_life import KafkaLife

STEPS = 80


def test_what_was_followed_can_be_rebuilt(zookeeper: str, tmp_path: Path) -> None:
    with closing(KafkaLife(zookeeper, 7)) as life:
        life.found()
        with followed(zookeeper) as source:
            source.phase("live")
            life.go_on(STEPS)
            life.settle()
            source.until_same_as(zookeeper)
            images, truth = distinct(source), loaded(zookeeper)
    recorder = Recorder(tmp_path, "life", "1a", Rolling(flush_ms=50, heartbeat_ms=50, part_rows=40, set_rows=400))
    for image in images:
        recorder.take(image, image.provenance.time_ms)
        recorder.tick(image.provenance.time_ms)
    recorder.close(images[-1].provenance.time_ms)
    recorded = the_cluster_in(tmp_path)
    assert len(images) > 10
    assert [parts(image_at(recorded, image.provenance.time_ms + 1)) for image in images[-10:]] == [
        parts(image) for image in images[-10:]
    ]
    assert facts(image_at(recorded)) == truth


def distinct(source: Followed) -> list[ClusterImage]:
    """Whole images, one for each time at most: of those seen in the same millisecond the last."""
    moments: list[Moment] = [each for each in source.moments if each.image.provenance.complete]
    return list({each.image.provenance.time_ms // 2: each.image for each in moments}.values())


def parts(image: ClusterImage) -> ClusterImage:
    return msgspec.structs.replace(without_secrets(image), provenance=Provenance())
