"""A drill as a kdrill.drill/1 document: plain values for JSON. Pairs are before and after; times are in virtual ms."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import msgspec

from model.cluster.texts import brokers, metadata_place
from model.drills.drill import PlayedDrill
from model.drills.outcomes import DrilledPartition, unaffected
from model.drills.rows import AnyRow, BrokerFenced, MetadataLearnt, MetadataWritten, StateWritten, ZnodeWritten
from model.drills.scenario import Deed, Scenario
from model.drills.setup_znodes import rules_of
from model.drills.timeline import DrillTimeline
from model.drills.voter_change import STATIC
from model.drills.voters import is_kraft, not_forecast, rules_since
from model.hosts.virtual.journal import (
    BrokerCrashed,
    BrokerStopped,
    ControllerAsked,
    ControllerElected,
    RequestSent,
    SessionEnded,
)
from model.znodes.paths import partition_state_path

FORMAT = "kdrill.drill/1"
PERCENTILES = (50, 95, 99, 100)

Document = dict[str, Any]


def document_of(drill: PlayedDrill, *, everything: bool = False) -> Document:
    """The whole drill; with `everything`, partitions that nothing happened to are in it, too."""
    outcomes: Iterable[DrilledPartition] = drill.affected
    if everything:
        outcomes = chain(outcomes, unaffected(drill.timeline))
    partitions: dict[str, dict[str, Document]] = {}
    for one in outcomes:
        partitions.setdefault(one.partition.topic, {})[str(one.partition.partition)] = _partition(one)
    about: Document = {"not_forecast": not_forecast(drill.before)} if is_kraft(drill.before) else {}
    if drill.turnout is not None:
        about["quorum"] = msgspec.to_builtins(drill.turnout)
    if drill.voter_change is not None:
        about["voters_changed"] = msgspec.to_builtins(drill.voter_change)
    if drill.served is not None:
        about["still_served"] = msgspec.to_builtins(drill.served)
    return {
        "format": FORMAT,
        **about,
        "source": drill.before.provenance.source,
        "scenario": _scenario(drill.scenario),
        "assumptions": assumptions_of(drill),
        "at_rest": drill.at_rest,
        "partitions": partitions,
        "summary": _summary(drill),
        "timeline": [_row(row) for row in drill.timeline.rows],
    }


def _scenario(scenario: Scenario) -> Document:
    said = msgspec.to_builtins(scenario)
    return {name: value for name, value in said.items() if value or not name.endswith("_voters")}


def assumptions_of(drill: PlayedDrill) -> Document:
    """All that was assumed: how long things take, whose rules, and what the image does not say."""
    return {
        **msgspec.to_builtins(drill.assumptions),
        "kafka_rules_since": rules_since(drill.before),
        "notes": list(notes_on(drill)),
    }


def notes_on(drill: PlayedDrill) -> Iterable[str]:
    """What the image does not say and had to be assumed, in sentences."""
    image, catch_up_ms = drill.before, drill.assumptions.catch_up_ms
    if catch_up_ms is not None:
        yield f"Brokers that start are in sync {catch_up_ms:g} ms after they begin to fetch."
    unseen = {broker for act in drill.scenario.acts if act.deed is Deed.START for broker in act.brokers}
    if unseen := unseen - image.brokers.keys():
        yield f"What {brokers(unseen)} registers is not known: no listeners, no rack."
    if drill.voter_change is not None and drill.voter_change.is_static:
        yield STATIC
    yield "Followers that are not in sync stay out of sync: what they lack is not known."
    if any(act.deed is Deed.KILL and len(act.brokers) > 1 for act in drill.scenario.acts):
        yield "Brokers that die together are missed together: else another one may be the last in an ISR."
    stops = any(act.deed is Deed.STOP for act in drill.scenario.acts)
    if stops and not rules_of(image).forms.refuses_offline_members:
        yield "A leader may take a broker that shuts down back into an ISR, until it is gone: one leader epoch more."
    yield from _notes_on_races(drill.timeline)
    yield "Leaders do not go back to the preferred replicas by themselves."
    if not rules_of(image).forms.takes_dead_out_of_isrs:
        yield "A new controller of this release leaves the dead in ISRs; their leaders taking them out is not played."
    if image.generation == "unknown":
        yield "The release is not known: the latest rules hold."
    topics = image.topics.values()
    is_led = not is_kraft(image) and any((topic.leader_epoch > 0).any() for topic in topics)
    if is_led and not any((t.version > 0).any() for t in topics):
        yield "The image has no znode versions: they begin with 0."


def _notes_on_races(timeline: DrillTimeline) -> Iterable[str]:
    """Who won a race to be the controller, as far as anything depends on it."""
    for number, row in enumerate(timeline.rows):
        if not isinstance(row, ControllerElected) or not row.is_race:
            continue
        who = f"Which of {brokers(row.candidates)} became the controller (epoch {row.epoch}) is a race"
        later = timeline.rows[number:]
        gone = {one.broker for one in later if isinstance(one, BrokerCrashed | BrokerStopped)}.intersection(
            row.candidates
        )
        if gone:
            yield (
                f"{who}, played as if b{row.broker} had won it. Whether {brokers(gone)}, gone later, controlled by "
                "then is open: leader and controller epochs may differ."
            )
        else:
            yield f"{who}: leaders, ISRs and leader epochs are the same whoever won it."


def _partition(one: DrilledPartition) -> Document:
    facts: Document = {
        "leader": one.leader,
        "isr": one.isr,
        "leader_epoch": one.leader_epoch,
        "outcome": one.outcome.value,
    }
    if one.outage is not None:
        facts["without_leader_ms"] = [one.outage.from_ms, one.outage.to_ms]
    return facts


def _summary(drill: PlayedDrill) -> Document:
    timeline, counts = drill.timeline, msgspec.to_builtins(drill.summary, str_keys=True)
    before, after = drill.before.controller, drill.after.controller
    return {
        "leaders_moved": counts.pop("leaders_moved"),
        **counts.pop("after"),
        **counts,
        "controller": [before.broker, after.broker if len(timeline.candidates) < 2 else None],
        "controller_candidates": timeline.candidates,
        "controller_epoch": [before.epoch, after.epoch],
        "without_leader_ms": {f"p{percent}": timeline.outage_percentile(percent) for percent in PERCENTILES},
    }


def _row(row: AnyRow) -> Document:
    special = _SPECIAL.get(type(row))
    return msgspec.to_builtins(row) if special is None else special(row)


def _state_written(row: StateWritten) -> Document:
    before, after = row.before, row.after
    path, is_znode = partition_state_path(row.topic, after.partition), row.by is not None
    if is_znode:
        versions: Document = {"version": after.version, "controller_epoch": after.controller_epoch}
    else:
        versions = {"partition_epoch": after.version, "elr": after.elr, "last_known_elr": after.last_known_elr}
    return {
        "what": "state-written",
        "at_ms": row.at_ms,
        "by": row.by,
        "path": path if is_znode else metadata_place(path),
        **versions,
        "leader": [None if before is None else before.leader, after.leader],
        "isr": [None if before is None else before.isr, after.isr],
        "leader_epoch": [None if before is None else before.leader_epoch, after.leader_epoch],
        "recovering": after.recovering,
        "unclean": row.unclean,
    }


def _znode_written(row: ZnodeWritten) -> Document:
    return {
        "what": "znode-written",
        "at_ms": row.at_ms,
        "by": row.by,
        "verb": row.verb,
        "path": row.path,
        "version": row.version,
    }


def _request_sent(row: RequestSent) -> Document:
    return {
        "what": "request-sent",
        "at_ms": row.at_ms,
        "by": row.sender,
        "to": row.receiver,
        "kind": row.kind,
        "partitions": row.partitions,
    }


def _metadata_written(row: MetadataWritten) -> Document:
    return {"what": "metadata-written", "at_ms": row.at_ms, "place": row.place}


def _metadata_learnt(row: MetadataLearnt) -> Document:
    return {"what": "metadata-learnt", "at_ms": row.at_ms, "to": row.receiver, "partitions": row.partitions}


def _shutdown_asked(row: ControllerAsked) -> Document:
    return {"what": "shutdown-asked", "at_ms": row.at_ms, "broker": row.by, "controller": row.controller}


def _session_ended(row: SessionEnded) -> Document:
    what = "session-expired" if row.expired else "session-closed"
    return {"what": what, "at_ms": row.at_ms, "broker": row.broker, "controller": row.controller}


def _broker_fenced(row: BrokerFenced) -> Document:
    return {**_session_ended(row), "what": "broker-fenced", "stopped": not row.expired}


def _controller_moved(row: ControllerElected) -> Document:
    return {
        "what": "controller-moved",
        "at_ms": row.at_ms,
        "old": row.old,
        "new": row.broker,
        "epoch": row.epoch,
        "candidates": row.candidates,
    }


_SPECIAL: Mapping[type, Callable[[Any], Document]] = {
    StateWritten: _state_written,
    ZnodeWritten: _znode_written,
    RequestSent: _request_sent,
    MetadataWritten: _metadata_written,
    MetadataLearnt: _metadata_learnt,
    ControllerAsked: _shutdown_asked,
    SessionEnded: _session_ended,
    BrokerFenced: _broker_fenced,
    ControllerElected: _controller_moved,
}
