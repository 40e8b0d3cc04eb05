"""Groups to draw, and the graph written down as text."""

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import GroupImage, Member, Rebalance
from model.cluster.records import GroupDescribed, GroupRebalancesSeen, TopicAssigned
from tests.tui.data.small_cluster import NOW_MS, moment_of, small_image, text_of
from tui.engine.consumers.ownership import ownership_window
from tui.engine.listing import AnswerMemo
from tui.engine.queries import OwnershipList
from tui.engine.rows import Window

GROUP = "readers (classic)"


def group_image(owners: dict[str, tuple[int, ...]], count: int, *past: Rebalance, topics: int = 1) -> ClusterImage:
    """A classic group `readers` of topics t0, t1 …, each with `count` partitions; owner → which of them, in each."""
    names = [f"t{number}" for number in range(topics)]
    members = {name: Member(dict.fromkeys(names, 1), client_id=name) for name in owners if not name.startswith("-")}
    owned = {TopicPartition(t, p): name for name, numbers in owners.items() for t in names for p in numbers}
    base = small_image(*(TopicAssigned(topic=name, replicas=dict.fromkeys(range(count), (1,))) for name in names))
    described = GroupDescribed(
        group="readers", state="Stable", protocol_type="consumer", protocol="range", coordinator=1, generation=1,
        members=members, owners=owned,
    )  # fmt: skip
    seen = GroupRebalancesSeen(group="readers", kind="classic", rebalances=past)
    return ClusterDelta(base).replay_all([described, *([seen] if past else [])]).apply(base.provenance)


def readers(image: ClusterImage) -> GroupImage:
    """The group itself."""
    group = image.group(GROUP)
    assert group is not None
    return group


def graph(image: ClusterImage, **asked: object) -> Window:
    """What the pane shows, with 20 rows in view."""
    query = OwnershipList(scope=GROUP, **{"view": "graph", "count": 60, "width": 100, **asked})  # pyright: ignore[reportArgumentType]
    return ownership_window(moment_of(image), query, NOW_MS, AnswerMemo())


def drawn(window: Window) -> list[str]:
    """`! c1 2 ─┬──  X t0 3  no owner` for each row, without numbers of lag."""
    lines: list[str] = []
    for row in window.rows:
        cells = [text_of(cell) for cell in row.cells]
        lines.append(f"{row.mark or ' '} {cells[0]:8} {cells[1]:>2} {cells[3]:14}  {cells[4]}".rstrip())
    return lines
