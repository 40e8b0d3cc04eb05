"""A follower, or an observer: what it takes over of a leader's log, cuts off of its own, and asks next.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: `handleFetchResponse`, `handleFetchSnapshotResponse`,
`pollFollowerAsVoter`, `pollUnattached`), KIP-595, KIP-630.
"""

from model.observer.messages import Address
from model.raft.messages import (
    Commit,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    SnapshotAnswer,
    SnapshotLoaded,
    StartLogAt,
    StoreSnapshot,
    Truncate,
    UpdateVoter,
)
from model.raft.node import Download, Follower, Link, Node, Unattached
from model.raft.turn import Turn
from model.raft.voters import Voter


def on_fetch_answer(turn: Turn, asked: Fetch, reply: FetchAnswer) -> None:
    """The leader answered in the epoch that it was asked in, without an error."""
    node, role = turn.node, turn.node.role
    if not isinstance(role, Follower) or asked.epoch != node.epoch or asked.end != node.log.last:
        return
    if reply.diverging is not None:
        offset = node.log.truncation(reply.diverging)
        if offset < node.log.high_watermark:
            turn.fault(f"the leader's log ends at {offset}, yet offset {node.log.high_watermark - 1} was committed")
            return
        turn.set(log=node.log.truncated(offset))
        turn.commands.append(Truncate(offset))
    elif reply.snapshot is not None:
        turn.set_role(download=Download(reply.snapshot))
    else:
        if reply.batches and reply.batches[0].offset != node.log.end:
            return
        turn.take_in(reply.batches)
        turn.commit(reply.high_watermark)
    _fetched(turn)


def _fetched(turn: Turn) -> None:
    """The leader is there: nobody has to stand for election."""
    turn.set_role(has_fetched=True, fetch_until_ms=turn.now_ms + turn.node.settings.fetch_timeout_ms)


def on_snapshot_answer(turn: Turn, asked: FetchSnapshot, reply: SnapshotAnswer) -> None:
    """A piece of a snapshot, or the news that there is no such one any more."""
    role = turn.node.role
    if not isinstance(role, Follower) or role.download is None or asked.epoch != turn.node.epoch:
        return
    download = role.download
    if (asked.snapshot, asked.position) != (download.snapshot, download.position):
        return
    if reply.known.error != "NONE":
        turn.set_role(download=None)
        return
    if (reply.snapshot, reply.position) != (asked.snapshot, asked.position):
        turn.fault(f"asked for {asked.snapshot} from {asked.position}, got {reply.snapshot} from {reply.position}")
        return
    position = download.position + len(reply.data)
    is_whole = position >= reply.size
    turn.commands.append(StoreSnapshot(download.snapshot, download.position, reply.data, is_whole))
    turn.set_role(download=Download(download.snapshot, position, is_whole))
    _fetched(turn)


def on_loaded(turn: Turn, event: SnapshotLoaded) -> None:
    """A snapshot takes the place of the whole log, whoever leads by now: all of it is committed."""
    log = turn.node.log
    if event.snapshot.offset > log.high_watermark:
        turn.set(log=log.replaced(event.snapshot, event.voters))
        turn.commands += (StartLogAt(event.snapshot), Commit(event.snapshot.offset))
    if isinstance(turn.node.role, Follower):
        turn.set_role(download=None)
        _fetched(turn)


def ask_for_more(turn: Turn) -> None:
    """The next request to the leader; while it does not answer, or is not known, to anybody who may know it."""
    role = turn.node.role
    if isinstance(role, Follower):
        link = turn.node.links.get(role.address, Link())
        if link.has_failed and _others(turn.node):
            _ask_anybody(turn)
        elif _is_free(turn, role.address):
            request = _next_request(turn, role)
            if request is not None:
                turn.send(role.address, request)
    elif isinstance(role, Unattached):
        _ask_anybody(turn)


def _is_free(turn: Turn, address: Address) -> bool:
    link = turn.node.links.get(address, Link())
    return not link.number and turn.now_ms >= link.not_before_ms


def _next_request(turn: Turn, role: Follower) -> Fetch | FetchSnapshot | UpdateVoter | None:
    node = turn.node
    if turn.now_ms >= role.update_at_ms:
        turn.set_role(update_at_ms=turn.now_ms + node.settings.fetch_timeout_ms)
        if _has_changed(node):
            return UpdateVoter(node.cluster_id, node.epoch, node.me)
    if role.download is None:
        return _fetch(node)
    if role.download.is_whole:
        return None
    return FetchSnapshot(node.cluster_id, node.key, node.epoch, role.download.snapshot, role.download.position)


def _has_changed(node: Node) -> bool:
    """The voters' record says something else of this one than it would itself."""
    voters = node.log.voters
    recorded: Voter | None = voters.by_id(node.key.id) if node.is_voter else None
    return recorded is not None and voters.kraft_version > 0 and recorded != node.me


def _fetch(node: Node) -> Fetch:
    return Fetch(node.cluster_id, node.key, node.epoch, node.log.last, node.log.high_watermark)


def _others(node: Node) -> list[Address]:
    return [address for address in node.bootstrap if address != node.me.address]


def _ask_anybody(turn: Turn) -> None:
    """A Fetch to one of those that are asked for the leader; one at a time."""
    node = turn.node
    addresses = _others(node)
    links = [node.links.get(address, Link()) for address in addresses]
    if any(link.number and isinstance(link.request, Fetch) for link in links):
        return
    free = [address for address in addresses if _is_free(turn, address)]
    if free:
        turn.send(free[turn.draw(len(free))], _fetch(node))
        if isinstance(node.role, Follower):
            link = turn.node.links.get(node.role.address, Link())
            if link.has_failed and not link.number:
                forgiven = Link(not_before_ms=link.not_before_ms)
                turn.set(links={**turn.node.links, node.role.address: forgiven})
