"""Znodes as they are now, by a session that only reads; and a proposal's writes as one transaction.

The transaction is fenced by versions: all of its writes happen or none. Nothing is sent but over a connection that is
up, and nothing is sent twice: where a connection was lost before the answer came, another session looks up what
happened (`model.hosts.zookeeper.session` says why kazoo alone would carry it out at some later time).
"""

import contextlib
import queue
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Self

from model.actions.proposal import Found, FoundZnode, Step, ZnodeWrite
from model.hosts.acting.carrying_out import WriteOutcome
from model.hosts.writing_client import PendingQuestion, WritingClient
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.zookeeper import (
    Answer,
    Check,
    Children,
    Code,
    Create,
    Delete,
    Missing,
    Multi,
    SetData,
    TooLarge,
    Unread,
    Znode,
    ZooKeeperRequest,
)

READ_CONNECT_S = 15.0
TREE_ZNODES, TREE_S = 1_000_000, 60.0
"""More are not looked for, nor for longer, below one znode: only who lies has so many, or takes so long."""


class ZnodeReading:
    """Connected for as long as its `with` block lasts."""

    def __init__(self, settings: ZooKeeperSettings, timeout_s: float = READ_CONNECT_S) -> None:
        self._reader = ZooKeeperReader.open(settings, on_events=_ignore_news, on_state=_ignore_news)
        self._timeout_s = timeout_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def znodes(self, paths: Iterable[str]) -> Found:
        """Those that are there. Raises ZooKeeperUnavailable, one line, also for one that may not be read."""
        self._catch_up()
        found = [one for one in self._reader.read_many(list(paths)) if not _is_missing(one)]
        return {one.path: FoundZnode(one.data, one.stat.version) for one in found if isinstance(one, Znode)}

    def children(self, path: str) -> tuple[str, ...]:
        """The names below a znode; none where it does not exist. Raises as `znodes`."""
        self._catch_up()
        found = self._reader.children(path)
        return found.names if not _is_missing(found) and isinstance(found, Children) else ()

    def tree(self, path: str) -> Found:
        """A znode and all that is below it. Raises as `znodes`, also where that is more than Kafka has anywhere."""
        return self.znodes(self._paths_from(path))

    def close(self) -> None:
        """Ends the session."""
        self._reader.close()

    def _paths_from(self, path: str) -> list[str]:
        self._catch_up()
        paths, level, ends_s = [path], [path], time.monotonic() + TREE_S
        while level:
            if len(paths) > TREE_ZNODES or time.monotonic() > ends_s:
                raise ZooKeeperUnavailable(f"{path} has no end: more than {len(paths):,} znodes were found below it")
            found = [each for each in self._reader.children_many(level) if not _is_missing(each)]
            level = [f"{each.path}/{name}" for each in found if isinstance(each, Children) for name in each.names]
            paths += level
        return paths

    def _catch_up(self) -> None:
        """The server behind the connection may lag behind the ensemble's leader."""
        self._reader.wait_connected(self._timeout_s)
        self._reader.sync()


def _is_missing(found: Znode | Children | Unread) -> bool:
    if isinstance(found, Znode | Children | Missing):
        return isinstance(found, Missing)
    if isinstance(found, TooLarge):
        raise ZooKeeperUnavailable(f"{found.path} cannot be read: {found.length:,} bytes are too large to be Kafka's")
    raise ZooKeeperUnavailable(f"{found.path} cannot be read: log in as somebody who may")


def _ignore_news(_news: object) -> None:
    """Nothing is followed here."""


CONNECT_S = 15.0
MOST_BYTES = 1_000_000
"""Beyond, the server closes the connection without a word (jute.maxbuffer is 1 MB)."""

_WHY = {
    Code.NO_NODE: "is gone",
    Code.BAD_VERSION: "was changed meanwhile",
    Code.NODE_EXISTS: "was created meanwhile",
    Code.NOT_EMPTY: "has children",
}


class ZooKeeperWriter:
    """A session for the writes of one action; see `Writer`. Connects with the first write."""

    def __init__(self, settings: ZooKeeperSettings, reading: ZnodeReading, timeout_s: float = CONNECT_S) -> None:
        """`reading` is of the same ensemble, and stays its owner's."""
        self._settings = settings
        self._reading = reading
        self._timeout_s = timeout_s
        self._client: WritingClient | None = None
        self._connected = threading.Event()

    def check(self, steps: Sequence[Step]) -> str:
        """Each znode as it is now beside the version that the proposal was made for."""
        writes = _writes(steps)
        if sum(len(write.path) + len(write.after or b"") + 64 for write in writes) > MOST_BYTES:
            return f"more than {MOST_BYTES:,} bytes are too many for one ZooKeeper transaction: take smaller batches"
        try:
            found = self._reading.znodes([write.path for write in writes if not write.sequential])
        except ZooKeeperUnavailable as error:
            return str(error)
        for write in writes:
            if write.sequential:
                continue
            now = found.get(write.path)
            if (None if now is None else now.version) != write.version:
                return f"{write.path} {_WHY[_code(write, now is not None)]}: nothing was written; look again"
        return ""

    def carry_out(self, steps: Sequence[Step]) -> WriteOutcome:
        """One transaction. A version that is not the one made up for refuses all of it."""
        writes = _writes(steps)
        try:
            client = self._ready()
        except ZooKeeperUnavailable as error:
            return WriteOutcome("refused", f"{error}: nothing was written")
        answer = self._asked(client, Multi(tuple(map(_request, writes))))
        if answer is None or answer.code is Code.SESSION_EXPIRED:
            self.close()
            return self._looked_up(writes)
        if answer.ok:
            return WriteOutcome("done", done=len(writes))
        failed = next((n for n, part in enumerate(answer.parts) if part.code in _WHY), None)
        if failed is None:
            return WriteOutcome(
                "refused", f"{writes[0].path}: ZooKeeper does not let this login write: nothing was written"
            )
        return WriteOutcome("refused", f"{writes[failed].path} {_WHY[answer.parts[failed].code]}: nothing was written")

    def close(self) -> None:
        """Ends the session; what it was asked for and has not been answered is not sent any more."""
        client, self._client = self._client, None
        self._connected.clear()
        if client is not None:
            with contextlib.suppress(Exception):  # one that is given up may fail in any way it likes
                client.put_away()

    def _ready(self) -> WritingClient:
        if self._client is None or not _is_connected(self._client):
            self.close()
            self._client = client = WritingClient(
                self._settings,
                on_fired=_unheard,
                on_events=_unheard,
                on_connected=self._connected.set,
                on_end=self._connected.set,
            )
            client.start_async()
            if not self._connected.wait(self._timeout_s) or not _is_connected(client):
                reason = client.reason.text or "no connection"
                self.close()
                raise ZooKeeperUnavailable(f"no ZooKeeper session that may write: {reason}")
        return self._client

    def _asked(self, client: WritingClient, request: ZooKeeperRequest) -> Answer | None:
        """None: it was sent, and the connection went before the answer came, or none came in time."""
        answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        question = PendingQuestion(
            (request,),
            self._settings.chroot,
            note=_unheard,
            done=lambda all_of_them: answers.put(all_of_them[0]),
            lost=lambda _: answers.put(None),
        )
        client.send(question.slots)
        try:
            return answers.get(timeout=self._settings.request_timeout_ms / 1000)
        except queue.Empty:
            return None

    def _looked_up(self, writes: Sequence[ZnodeWrite]) -> WriteOutcome:
        """All of a transaction happened or none, so that one znode tells."""
        lost = "the connection was lost before ZooKeeper answered"
        telling = next((w for w in writes if w.operation == "set"), None) or next(
            (w for w in writes if w.operation != "check" and not w.sequential), writes[0]
        )
        try:
            now = self._reading.znodes([telling.path]).get(telling.path)
        except ZooKeeperUnavailable as error:
            return WriteOutcome("unknown", f"{lost}, and {error}: whether it was written is unknown; look again")
        is_as_written = now.data == telling.after if now is not None else telling.operation == "delete"
        if is_as_written and (now is None or telling.version is None or now.version == telling.version + 1):
            return WriteOutcome("done", f"{lost}; {telling.path} is as it was to be", done=len(writes))
        return WriteOutcome(
            "unknown", f"{lost}; {telling.path} is not as it was to be: look again before you repeat it"
        )


def _is_connected(client: WritingClient) -> bool:
    """Whether a request would go out now; kazoo has no types."""
    return bool(client.connected)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _writes(steps: Sequence[Step]) -> list[ZnodeWrite]:
    return [step for step in steps if isinstance(step, ZnodeWrite)]


def _request(write: ZnodeWrite) -> Create | SetData | Delete | Check:
    if write.operation == "create":
        return Create(write.path, write.after or b"", sequential=write.sequential)
    if write.version is None:
        raise ValueError(f"{write.operation} of {write.path} names no version")
    if write.operation == "set":
        return SetData(write.path, write.after or b"", write.version)
    return (Delete if write.operation == "delete" else Check)(write.path, write.version)


def _code(write: ZnodeWrite, is_there: bool) -> Code:
    if write.operation == "create":
        return Code.NODE_EXISTS
    return Code.BAD_VERSION if is_there else Code.NO_NODE


def _unheard(*_news: object) -> None:
    """Nothing is followed here."""
