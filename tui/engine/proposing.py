"""What is proposed for a request on the cluster as it is now: for the command line and for dashboards alike.

A request is held against the cluster first: which topics and partitions it is about, where their logs begin and end.
Brokers are asked for what a SOURCE does not tell, over a connection that only asks. A proposal says what drills say of
the cluster before and after it, and becomes a text for the screen whose last line says what has to be typed. Nothing is
done here.
"""

import base64
import contextlib
import random
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from model.actions import Reset, elections, groups, topics
from model.actions.configs import ConfigRequest, alter_configs, wish_paths
from model.actions.groups import Landing, OffsetRange, landing, reset_offsets, reset_paths
from model.actions.partitions import grow_topic
from model.actions.proposal import ActionRefused, ApiCall, Basis, Proposal, Step
from model.actions.topics import NewTopic, create_topic, new_topic_paths
from model.analyses import AnalysisError
from model.analyses.plans import figures_of
from model.broker.settings.catalogue import said_of
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage
from model.cluster.texts import counted
from model.controller.placement import RackMode
from model.drills.setup_znodes import rules_of
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.admin_writes import AdminWriter
from model.hosts.acting.carrying_out import shown
from model.hosts.kafka_client import EARLIEST, LATEST
from model.hosts.tls import kafka_options
from model.sources.addresses import KAFKA_SCHEME, parse_kafka_address
from model.znodes.codec import redact
from model.znodes.paths import topic_path
from tui.engine.messages import Opening, TextAnswer
from tui.engine.questions import (
    AddPartitions,
    AlterConfigs,
    CreateTopic,
    DeleteGroup,
    DeleteTopics,
    ElectPreferred,
    ElectUnclean,
    RemoveDeleteMarker,
    Request,
    ResetOffsets,
)
from tui.engine.sheets import Sheet
from tui.engine.way_in import Way


def brokers_of(opening: Opening) -> str:
    """`host:port[,…]` of the brokers that an opening names; empty where it names none."""
    if opening.bootstrap or not opening.source.startswith(KAFKA_SCHEME):
        return opening.bootstrap
    return parse_kafka_address(opening.source).bootstrap


def brokers_seen(image: ClusterImage) -> str:
    """`host:port[,…]` as brokers registered themselves, each with its first endpoint."""
    endpoints = [broker.endpoints[0] for broker in image.brokers.values() if broker.endpoints]
    return ",".join(endpoint.partition("://")[2] for endpoint in endpoints)


@contextlib.contextmanager
def asking(opening: Opening, brokers: str) -> Iterator[AdminReads]:
    """Connected as long as the context lasts. Raises ActionRefused, UnansweredError, SecurityError."""
    if not brokers:
        raise ActionRefused("no broker is known to ask: name some with --bootstrap")
    admin = AdminWriter(brokers, kafka_options(opening.login.kafka))
    try:
        yield admin.reads
    finally:
        admin.close()


def creation(basis: Basis, request: CreateTopic) -> Proposal:
    """The topic with its replicas placed. Raises ActionRefused with Kafka's reason."""
    if request.if_not_exists and request.topic in basis.image.topics:
        return Proposal(f"topic {request.topic} exists already", ())
    wanted = NewTopic(
        name=request.topic,
        partitions=request.partitions,
        replication_factor=request.replication_factor,
        assignment=dict(enumerate(request.assignment)),
        configs=request.configs,
        rack_mode=_racks(ignored=request.ignores_racks),
        topic_id=_new_topic_id(),
    )
    found = create_topic(basis, wanted, random.randrange)
    return msgspec.structs.replace(found, warnings=(*said_of("topics", request.configs).remarks, *found.warnings))


def growth(basis: Basis, request: AddPartitions, names: Sequence[str]) -> Proposal:
    """More partitions of the one topic in `names`. Raises ActionRefused."""
    if len(names) > 1:
        raise ActionRefused(f"--topic {request.topic!r} fits {len(names)} topics: change one after the other")
    (name,) = names
    given = request.assignment[len(basis.topic(name)) :] if request.assignment else None
    return grow_topic(basis, name, request.partitions, given, _racks(ignored=request.ignores_racks), random.randrange)


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """Names in order, of all topics where None is wanted. Raises ActionRefused where nothing fits, unless `if_exists`.

    Source: `org.apache.kafka.server.util.TopicFilter.IncludeList` (3.9), `kafka.consumer.Whitelist` (0.8).
    """
    known = sorted(name for name in image.topics if not (exclude_internal and name in INTERNAL_TOPICS))
    if wanted is None:
        return known
    found = _fitting(known, wanted)
    if not found and not if_exists:
        raise ActionRefused(f"topic {wanted!r} does not exist")
    return found


def _fitting(names: Sequence[str], wanted: str) -> list[str]:
    expression = wanted.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise ActionRefused(f"--topic {wanted!r} is no regular expression: {error}") from None
    return [name for name in names if pattern.fullmatch(name)]


def _racks(*, ignored: bool) -> RackMode:
    return RackMode.DISABLED if ignored else RackMode.ENFORCED


def _new_topic_id() -> str:
    """As `org.apache.kafka.common.Uuid.randomUuid` (3.9): none that begins with a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text


UNKNOWN = OffsetRange(0, 2**63 - 1)
"""Of a log that nobody can be asked about."""


def landing_of(request: ResetOffsets, image: ClusterImage, opening: Opening) -> Landing:
    """What each partition's offset becomes. Raises ActionRefused, UnansweredError, ValueError for a login."""
    group = image.group(request.group)
    if group is None:
        raise ActionRefused(f"group {request.group!r} does not exist")
    listed = None if request.listed is None else dict(request.listed)
    partitions = list(listed) if listed is not None else _chosen(image, group, request.topics)
    logs = _logs(opening, image, partitions, request.reset)
    return landing(request.reset, group.offsets, logs) if listed is None else _each(listed, group, logs)


def _chosen(image: ClusterImage, group: GroupImage, topics: Sequence[str]) -> list[TopicPartition]:
    """Those named; without names all that the group has committed."""
    if not topics:
        return sorted(group.offsets)
    chosen: list[TopicPartition] = []
    for each in topics:
        name, _, numbers = each.partition(":")
        topic = image.topics.get(name)
        if topic is None:
            raise ActionRefused(f"topic {name!r} does not exist")
        try:
            wanted = [int(number) for number in numbers.split(",")] if numbers else topic.partitions.tolist()
        except ValueError:
            raise ActionRefused(f"--topic {each!r}: write it as orders:0,1") from None
        missing = [number for number in wanted if number not in topic.row_of]
        if missing:
            raise ActionRefused(f"partition {name}-{missing[0]} does not exist")
        chosen += [TopicPartition(name, number) for number in wanted]
    return list(dict.fromkeys(chosen))


def _logs(
    opening: Opening, image: ClusterImage, partitions: Sequence[TopicPartition], reset: Reset
) -> dict[TopicPartition, OffsetRange]:
    if not partitions:
        raise ActionRefused("there is no partition to reset: the group has committed nothing")
    if image.generation == "0.8":
        if reset.target not in ("to-offset", "shift-by"):
            raise ActionRefused("brokers of 0.8 cannot be asked where logs begin and end: take --to-offset N")
        return dict.fromkeys(partitions, UNKNOWN)
    with asking(opening, brokers_of(opening) or brokers_seen(image)) as reads:
        starts, ends = reads.log_offsets(partitions, EARLIEST), reads.log_offsets(partitions, LATEST)
        found = reads.log_offsets(partitions, reset.number) if reset.target == "to-time" else {}
    return {each: OffsetRange(starts[each], ends[each], found.get(each)) for each in partitions}


def _each(
    listed: Mapping[TopicPartition, int], group: GroupImage, logs: Mapping[TopicPartition, OffsetRange]
) -> Landing:
    """An offset of its own each."""
    landings = [
        landing(Reset("to-offset", offset), group.offsets, {each: logs[each]}) for each, offset in listed.items()
    ]
    remarks = tuple(remark for each in landings for remark in each.remarks)
    return Landing({each: offset for one in landings for each, offset in one.offsets.items()}, remarks)


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
            return creation(basis_of(way, new_topic_paths(topic)), request)
        case AddPartitions() | DeleteTopics():
            return _on_chosen(request, way)
        case RemoveDeleteMarker(topic):
            return topics.remove_delete_marker(basis_of(way, topics.deletion_paths([topic])), topic)
        case AlterConfigs(kind, name, add, remove):
            wish = ConfigRequest(f"{kind}/{name}", add, remove)
            return alter_configs(basis_of(way, wish_paths(wish)), wish, said_of(kind, add).remarks)
        case ElectPreferred():
            wanted = _named(way.image, request, elections.imbalanced)
            return elections.elect_preferred(basis_of(way, [elections.ELECTION_PATH]), wanted)
        case ElectUnclean():
            return elections.elect_uncleanly(basis_of(way, ()), _named(way.image, request, elections.leaderless))
        case ResetOffsets():
            where = landing_of(request, way.image, opening)
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
    names = chosen_topics(way.image, request.topic, if_exists=request.if_exists)
    if not names:
        return Proposal(f"topic {request.topic} does not exist", ())
    if isinstance(request, DeleteTopics):
        return topics.delete_topics(basis_of(way, topics.deletion_paths(names)), names)
    return growth(basis_of(way, [topic_path(name) for name in names]), request, names)


def _named(
    image: ClusterImage,
    request: ElectPreferred | ElectUnclean,
    needing: Callable[[ClusterImage], tuple[TopicPartition, ...]],
) -> tuple[TopicPartition, ...]:
    """Without names all those that need it."""
    if request.listed is not None:
        return request.listed
    if request.topic is None:
        return needing(image)
    known = image.topics.get(request.topic)
    if known is None:
        raise ActionRefused(f"topic {request.topic!r} does not exist")
    return tuple(TopicPartition(known.name, number) for number in request.partitions or known.partitions.tolist())
