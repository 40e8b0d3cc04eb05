"""What is found does not depend on what was looked at before."""

from hypothesis import given

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import SEVERITY, find
from model.cluster.records import ClusterRecord
from tests.model.cluster.build import brokers, image, state, topic, written
from tests.model.cluster.strategies import histories, images


@given(images, histories)
def test_looking_only_at_what_changed_finds_the_same(before: ClusterImage, records: list[ClusterRecord]) -> None:
    after = image(*records, base=before)

    step_by_step = find(after, find(before))

    assert step_by_step == find(after)


@given(images, images)
def test_an_unrelated_earlier_image_misleads_nobody(earlier: ClusterImage, later: ClusterImage) -> None:
    assert find(later, find(earlier)).found == find(later).found


def test_findings_of_an_unchanged_topic_are_the_very_same() -> None:
    sick = [written(name, state(0, -1, (2,))) for name in ("orders", "payments")]
    before = find(image(*brokers(1, 2), *topic("orders", (1, 2)), *topic("payments", (1, 2)), *sick))

    after = find(image(written("orders", state(0, 1, (1, 2), epoch=1)), base=before.image), before)

    assert all(one in after.by_topic["payments"] for one in before.by_topic["payments"])
    assert after.by_topic["payments"] is before.by_topic["payments"]
    assert "orders" not in after.by_topic


@given(images)
def test_every_finding_has_a_known_severity_and_three_sentences(told: ClusterImage) -> None:
    for one in find(told).found:
        assert one.severity == SEVERITY[one.kind]
        assert one.subject
        assert one.what
        assert one.why
        assert one.action
        assert "\n" not in one.why + one.action
