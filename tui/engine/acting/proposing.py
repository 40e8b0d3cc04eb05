"""What is proposed for a request on the cluster as it is now: for the command line and for dashboards alike.

It says what drills say of the cluster before and after it, and becomes a text for the screen whose last line says what
has to be typed. Does nothing.
"""

import re
from collections.abc import Iterable

import msgspec

from model.actions import groups, partitions, topics
from model.actions.configs import ConfigWish, alter_configs, wish_paths
from model.actions.groups import reset_offsets, reset_paths
from model.actions.proposal import ActionRefused, ApiCall, Basis, Proposal, Step
from model.actions.topics import new_topic_paths
from model.analyses.errors import AnalysisError
from model.analyses.plans import figures_of
from model.broker.settings.dynamic_configs import said_of
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import ZOOKEEPER
from model.cluster.texts import counted
from model.drills.setup_znodes import rules_of
from model.hosts.acting.carrying_out import shown
from model.znodes.codec import redact
from model.znodes.paths import topic_path
from tui.engine.acting import targets
from tui.engine.acting.way import Way
from tui.engine.messages import TextAnswer
from tui.engine.opening import Opening
from tui.engine.requests import (
    AddPartitions,
    AlterConfigs,
    CreateTopic,
    DeleteGroup,
    DeleteTopics,
    ElectPreferred,
    RemoveDeleteMarker,
    Request,
    ResetOffsets,
)
from tui.engine.sheets import Sheet


def drills_said(before: ClusterImage, after: ClusterImage) -> str:
    """What the death of the worst broker does, one line; empty where the cluster cannot be drilled."""
    try:
        figures = figures_of(before)
        was, will_be = figures.broker, figures_of(after).broker
    except AnalysisError:
        return ""
    if was is None or will_be is None:
        return ""
    first = f"{figures.not_forecast} " if figures.not_forecast else ""
    return f"{first}drill: losing the worst broker hurts {counted(was.hurt, 'partition')} → {will_be.hurt:,}"


def with_drill(image: ClusterImage, proposal: Proposal) -> Proposal:
    """The proposal with that line first, where it changes what a death does."""
    if not proposal.leads_to:
        return proposal
    after = ClusterDelta(image).replay_all(proposal.leads_to).apply(image.provenance)
    said = drills_said(image, after)
    return msgspec.structs.replace(proposal, changes=(said, *proposal.changes)) if said else proposal


MOST_LINES = 30
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}


def sheet_of(proposal: Proposal, width: int) -> TextAnswer:
    """What would be done, and how it is confirmed."""
    sheet = Sheet(proposal.title, width).say(proposal.title, "strong").gap()
    _listed(sheet, "changes", list(proposal.changes))
    for warning in proposal.warnings:
        sheet.fact("warning", warning, "warn")
    _listed(sheet, "sends", [step_text(step) for step in proposal.steps] or ["nothing"])
    if proposal.rollback:
        sheet.fact("undo", proposal.rollback)
    return sheet.gap().say(f"type {proposal.type_to_confirm or 'yes'} to do it, esc leaves it", "strong").answer()


def step_text(step: Step) -> str:
    """One request as a line, without secrets."""
    if isinstance(step, ApiCall):
        return f"{step.api} {shown(step)['fields']}"
    version = "" if step.version is None else f" (version {step.version})"
    data = f" {redact(step.path, step.after).decode(errors='replace')}" if step.after else ""
    return f"{step.operation} {step.path}{'*' if step.sequential else ''}{version}{data}"


def rate_of(text: str) -> int:
    """`50MB`, `500kB/s` as bytes/s; 0 for what is none."""
    found = re.fullmatch(r"(\d{1,12})\s*([kmg]?)b?(?:/s)?", text.strip().lower())
    return int(found[1]) * _UNITS[found[2]] if found else 0


def _listed(sheet: Sheet, name: str, texts: list[str]) -> None:
    more = len(texts) - MOST_LINES
    some = texts[:MOST_LINES] + ([f"… {more:,} more"] if more > 0 else [])
    for number, text in enumerate(some):
        sheet.fact(name if number == 0 else "", text)


def proposal_of(request: Request, way: Way, opening: Opening) -> Proposal:
    """Without steps where there is nothing to do. `opening`: how brokers are reached, who know where logs end.

    Raises ActionRefused, UnansweredError and ZooKeeperUnavailable with one line, ValueError for a login that is none.
    """
    return with_drill(way.image, _proposed(request, way, opening))


def _proposed(request: Request, way: Way, opening: Opening) -> Proposal:
    match request:
        case CreateTopic(topic=topic):
            return targets.creation(basis_of(way, new_topic_paths(topic)), request)
        case AddPartitions() | DeleteTopics():
            return _on_chosen(request, way)
        case RemoveDeleteMarker(topic):
            return topics.remove_delete_marker(basis_of(way, topics.deletion_paths([topic])), topic)
        case AlterConfigs(kind, name, add, remove):
            wish = ConfigWish(f"{kind}/{name}", add, remove)
            return alter_configs(basis_of(way, wish_paths(wish)), wish, said_of(kind, add).remarks)
        case ElectPreferred():
            return partitions.elect_preferred(basis_of(way, [partitions.ELECTION_PATH]), _elected(way.image, request))
        case ResetOffsets():
            where = targets.landing_of(request, way.image, opening)
            paths = reset_paths(request.group, list(where.offsets))
            return reset_offsets(basis_of(way, paths), request.group, where)
        case DeleteGroup(group):
            known = way.image.group(group)
            below = groups.group_root(known.name) if known is not None and known.kind == ZOOKEEPER else ""
            return groups.delete_group(basis_of(way, (), below=below), group)


def basis_of(way: Way, paths: Iterable[str], *, below: str = "") -> Basis:
    """What a proposal stands on: these paths where they exist, and all that is `below` one. Raises as Way does."""
    found = way.znodes(paths)
    if found is not None and below:
        found = {**found, **way.tree(below)}
    return Basis(way.image, rules_of(way.image), found)


def _on_chosen(request: AddPartitions | DeleteTopics, way: Way) -> Proposal:
    names = targets.chosen_topics(way.image, request.topic, if_exists=request.if_exists)
    if not names:
        return Proposal(f"topic {request.topic} does not exist", ())
    if isinstance(request, DeleteTopics):
        return topics.delete_topics(basis_of(way, topics.deletion_paths(names)), names)
    return targets.growth(basis_of(way, [topic_path(name) for name in names]), request, names)


def _elected(image: ClusterImage, request: ElectPreferred) -> tuple[TopicPartition, ...]:
    if request.listed is not None:
        return request.listed
    if request.topic is None:
        return partitions.imbalanced(image)
    known = image.topics.get(request.topic)
    if known is None:
        raise ActionRefused(f"topic {request.topic!r} does not exist")
    return tuple(TopicPartition(known.name, number) for number in request.partitions or known.partitions.tolist())
