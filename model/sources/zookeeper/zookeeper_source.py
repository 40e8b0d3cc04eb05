"""`zk://…` as a source: a read-only session and the thread that follows it."""

import ssl
import threading
from collections.abc import Sequence

from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import Credential, Sasl, Settings
from model.hosts.zookeeper.throttle import ReadLimits
from model.sources.addresses import ZooKeeperAddress
from model.sources.source import Progress, Sink
from model.sources.zookeeper.follower import Follower, Timing
from model.sources.zookeeper.inbox import Inbox
from model.sources.zookeeper.watching import ChooseWatching, watching_for

FAREWELL_S = 1.0
LAST_WORDS_S = 0.5


class ZooKeeperSource:
    """Follows a cluster through its ZooKeeper. Opens one session and no other; writes nothing. Used once."""

    def __init__(
        self,
        address: ZooKeeperAddress,
        timing: Timing | None = None,
        *,
        credentials: Sequence[Credential] = (),
        sasl: Sasl | None = None,
        tls: ssl.SSLContext | None = None,
        limits: ReadLimits | None = None,
        choose_watching: ChooseWatching = watching_for,
    ) -> None:
        """Opens nothing yet. `choose_watching` decides, for each connection, how changes are noticed."""
        self.address = address
        self._settings = Settings(
            address.hosts,
            address.chroot,
            credentials=tuple(credentials),
            sasl=sasl,
            tls=tls,
            limits=limits or ReadLimits(),
        )
        self._timing = timing or Timing()
        self._choose_watching = choose_watching
        self._inbox = Inbox()
        self._thread: threading.Thread | None = None
        self._follower: Follower | None = None
        self.reader: ZooKeeperReader | None = None
        """The session, once open: a browser of znodes reads through it too."""

    @property
    def name(self) -> str:
        return str(self.address)

    def open(self, sink: Sink) -> None:
        inbox = self._inbox
        self.reader = ZooKeeperReader.open(self._settings, on_events=inbox.on_events, on_state=inbox.on_state)
        tls = self._settings.tls is not None
        self._follower = follower = Follower(
            self.reader, inbox, sink, self.address, self._timing, self._choose_watching, tls=tls
        )
        self._thread = threading.Thread(target=follower.run, name="zookeeper-follower", daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        return Progress() if self._follower is None else self._follower.progress()

    def close(self) -> None:
        self._inbox.close()
        if self.reader is not None:
            self.reader.close(FAREWELL_S)
        # A sink may close the source from within a call, on the source's own thread.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(LAST_WORDS_S)
