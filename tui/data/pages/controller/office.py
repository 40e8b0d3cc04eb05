"""Who controls the cluster, since when, under which epochs, and how often that changed."""

from collections.abc import Mapping

import numpy as np

from model.cluster.cluster_image import ClusterImage, ControllerImage
from model.cluster.words import counted
from model.hosts.zookeeper.values import Unread, Znode
from model.sources.feed import Moment
from model.sources.source import Cost
from model.znodes.codec import decode
from model.znodes.controller import ControllerEpoch, ControllerRegistration
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import age_text, clock_text, date_text
from tui.data.pages.brokers import Brokers, brokers_of, host_of, tells_epochs
from tui.data.pages.listing import Memory
from tui.data.pages.logs.wording import size_text
from tui.data.pages.sheets import Sheet

CONTROLLER, EPOCH = "/controller", "/controller_epoch"
MOVES = frozenset({"controller-moved", "controller-elected", "controller-lost"})
"""Kinds of changes that another controller, or none, shows itself by."""

MOST_MOVES = 5
MOST_EPOCHS = 4

Znodes = Mapping[str, Znode | Unread]
"""What was just read of ZooKeeper, by path; nothing where there is no connection, or only a snapshot."""


def office_text(moment: Moment, query: TextQuery, now_ms: int, memory: Memory, znodes: Znodes) -> TextAnswer:
    """The controller. Of znodes that tell of another one than the moment, nothing is said."""
    brokers, office = brokers_of(moment, memory), moment.image.controller
    sheet = Sheet("Controller", query.width)
    if CONTROLLER in moment.image.unreadable:
        sheet.fact("broker", f"not known: {moment.image.unreadable[CONTROLLER]}")
        return sheet.answer()
    is_kraft = moment.image.generation == "kraft"
    _who(sheet, brokers, office, is_kraft=is_kraft)
    if office.broker is not None:
        since = f"{date_text(office.since_ms)} ({age_text(office.since_ms, now_ms)})"
        sheet.fact("since", since if office.since_ms > 0 else "not known")
    _epoch(sheet, office, znodes.get(EPOCH), is_kraft=is_kraft)
    _session(sheet, office, znodes.get(CONTROLLER))
    _moves(sheet, moment)
    if tells_epochs(moment.image):
        _written(sheet, brokers, office)
    _broker_epochs(sheet, moment.image)
    _cost(sheet, moment.status.cost)
    return sheet.answer()


def _cost(sheet: Sheet, cost: Cost | None) -> None:
    """What kdrill itself asks of ZooKeeper."""
    if cost is None:
        return
    watches = counted(cost.watches, "watch", "watches")
    sheet.fact("kdrill", f"asks ZooKeeper {cost.requests_per_s:,.1f} times a second, {watches}")
    sheet.fact("", f"{size_text(cost.received_bytes_per_s)}/s in, {size_text(cost.sent_bytes_per_s)}/s out")
    sheet.fact("", f"{cost.in_flight} in flight, answered in {cost.latency_ms:g} ms")
    if cost.is_holding_back:
        sheet.fact("", "holding back: ZooKeeper answers slower than usual", "warn")


def _who(sheet: Sheet, brokers: Brokers, office: ControllerImage, *, is_kraft: bool) -> None:
    if is_kraft and office.broker is not None and office.broker not in brokers.table.image.brokers:
        sheet.fact("node", f"{office.broker}, which is no broker that serves", "controller")
    elif office.broker is None:
        sheet.fact("broker", "nobody: no leader is elected, no topic made or deleted until somebody is", "error")
    elif brokers.state(office.broker) == "DOWN":
        sheet.fact("broker", f"b{office.broker}, which is not registered", "error")
    else:
        registered = brokers.registration(office.broker)
        sheet.fact("broker", f"b{office.broker}  {host_of(registered)}", "controller")


def _epoch(sheet: Sheet, office: ControllerImage, znode: Znode | Unread | None, *, is_kraft: bool) -> None:
    if is_kraft:
        # Each candidate raises it, elected or not (KafkaRaftClient): it skips numbers.
        sheet.fact("epoch", "not known" if office.epoch is None else f"{office.epoch}, that of the quorum's leader")
        return
    if office.epoch is None:
        sheet.fact("epoch", "none: there never was a controller")
        return
    sheet.fact("epoch", f"{office.epoch}, one more each time")
    if isinstance(znode, Znode) and _epoch_in(znode) == office.epoch:
        sheet.fact("", f"data version {znode.stat.version}, zxid {znode.stat.mzxid:#x}")


def _epoch_in(znode: Znode) -> int | None:
    payload = decode(EPOCH, znode.data)
    return payload.epoch if isinstance(payload, ControllerEpoch) else None


def _session(sheet: Sheet, office: ControllerImage, znode: Znode | Unread | None) -> None:
    payload = decode(CONTROLLER, znode.data) if isinstance(znode, Znode) else None
    if not (isinstance(znode, Znode) and isinstance(payload, ControllerRegistration)):
        return
    if office.broker is None or payload.broker_id != office.broker:
        return
    sheet.fact("session", f"{znode.stat.ephemeral_owner:#x}")
    if payload.kraft_controller_epoch is not None and payload.kraft_controller_epoch >= 0:
        sheet.fact(
            "KRaft", f"a migration is under way, KRaft controller epoch {payload.kraft_controller_epoch}", "warn"
        )


def _moves(sheet: Sheet, moment: Moment) -> None:
    moves = [change for change in moment.feed if change.kind in MOVES]
    taken = sum(change.kind != "controller-lost" for change in moves)  # one who goes and the next one are one move
    often = f"{counted(taken, 'time')} since kdrill began" if taken else "not since kdrill began"
    if moves and not taken:
        often = "nobody has taken over yet"
    sheet.fact("moved", often, "warn" if moves else "")
    for change in moves[: -MOST_MOVES - 1 : -1]:
        sheet.fact("", f"{clock_text(change.time_ms)}  {change.text}")


def _written(sheet: Sheet, brokers: Brokers, office: ControllerImage) -> None:
    """Under which controllers' epochs the states stand: old ones have not been touched since."""
    columns = brokers.table.columns
    epochs, counts = np.unique(columns.controller_epoch[columns.has_state], return_counts=True)
    newest = list(zip(epochs.tolist(), counts.tolist(), strict=True))[::-1]
    texts = [f"{count:,} in epoch {epoch}" for epoch, count in newest[:MOST_EPOCHS]]
    if older := sum(count for _, count in newest[MOST_EPOCHS:]):
        texts.append(f"{older:,} before")
    sheet.fact("states", f"written {', '.join(texts)}" if texts else "none is written")
    if newest and office.epoch is not None and newest[0][0] > office.epoch:
        sheet.fact("", f"epoch {newest[0][0]} is ahead of {EPOCH}", "error")


def _broker_epochs(sheet: Sheet, image: ClusterImage) -> None:
    epochs = {broker.epoch: broker.id for broker in image.brokers.values() if broker.epoch is not None}
    if epochs:
        last = max(epochs)
        sheet.fact("brokers", f"epochs {min(epochs)} to {last}; b{epochs[last]} registered last")
    elif image.brokers and tells_epochs(image):
        sheet.fact("brokers", "without epochs (before Kafka 2.2)")
