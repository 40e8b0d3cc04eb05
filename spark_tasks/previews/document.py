"""A preview as `kdrill.preview/1`: numbers get their names back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spark_tasks.previews.names import GroupNames
from spark_tasks.previews.result import Figures, GroupPreview, Leave, Share, StrategyPreview

FORMAT = "kdrill.preview/1"


def group_document(preview: GroupPreview, names: GroupNames) -> dict[str, Any]:
    """One group with all its strategies."""
    return {
        "group": names.key,
        "kind": names.kind,
        "state": names.state,
        "uses": names.uses,
        "consumers": len(names.consumers),
        "members": len(names.members),
        "topics": len(names.topics),
        "partitions": names.partitions,
        "lag": names.lag,
        "notes": list(names.notes),
        "now": _figures(preview.now) | _shares(preview.shares, names.members),
        "strategies": {each.strategy: _strategy(each, names) for each in preview.strategies},
    }


def _strategy(preview: StrategyPreview, names: GroupNames) -> dict[str, Any]:
    if preview.rebalanced is None:
        return {"rebalanced": None}
    document: dict[str, Any] = {"rebalanced": _figures(preview.rebalanced) | _shares(preview.shares, names.members)}
    if preview.joined is not None:
        document["joined"] = _figures(preview.joined)
    if preview.worst_leave is not None:
        document["worst_leave"] = _leave(preview.worst_leave, names.consumers)
    if preview.leaves:
        document["leaves"] = [_leave(each, names.consumers) for each in preview.leaves]
    return document


def _figures(figures: Figures) -> dict[str, Any]:
    return {field: getattr(figures, field) for field in (*figures.__struct_fields__, "spread")}


def _leave(leave: Leave, consumers: Sequence[str]) -> dict[str, Any]:
    return {"consumer": consumers[leave.consumer], "handed_on": leave.handed_on, **_figures(leave.figures)}


def _shares(shares: Iterable[Share], members: Sequence[str]) -> dict[str, Any]:
    told = {
        member: {"partitions": share.partitions, "lag": share.lag}
        for member, share in zip(members, shares, strict=False)
    }
    return {"shares": told} if told else {}


def preview_document(groups: Iterable[dict[str, Any]], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """All groups, and where it comes from."""
    return {"format": FORMAT, "groups": list(groups), "provenance": provenance}
