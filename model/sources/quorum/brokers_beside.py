"""What the metadata log does not tell, from the brokers that it names: groups and their lag, log folders, own settings.

They are asked as `kafka://` asks them, from the first listing on. Where none of them answers, that is a warning, and
the cluster is told all the same.
"""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import msgspec

from model.cluster import records as r
from model.cluster.ids import OWN_SETTINGS
from model.cluster.records import ClusterRecord
from model.sources.addresses import KafkaAddress, parse_kafka_address
from model.sources.kafka.kafka_source import INTERVAL_S, KafkaSource
from model.sources.source import FactBatch, SourceError, SourceStatus

_TOLD_BY_BROKERS = (
    r.GroupDescribed,
    r.GroupOffsetsFetched,
    r.GroupDied,
    r.GroupRebalancesSeen,
    r.LogEndsRead,
    r.LogDirsDescribed,
    r.ReplicasWentOffline,
)


class BrokersBeside:
    """`tell` and `report` are called from a thread of its own. Used once."""

    def __init__(
        self,
        tell: Callable[[FactBatch], None],
        report: Callable[[SourceStatus], None],
        interval_s: float = INTERVAL_S,
        security: Mapping[str, Any] | None = None,
    ) -> None:
        self._tell = tell
        self._report = report
        self._interval_s = interval_s
        self._security = security
        self._source: KafkaSource | None = None
        self._turn = Lock()
        """Opened by the thread that follows the log, closed by any."""
        self._is_closed = False
        self._told: dict[tuple[type[ClusterRecord], str], ClusterRecord] = {}

    @property
    def told(self) -> tuple[ClusterRecord, ...]:
        """All that still holds, for whoever forgot it; from any thread."""
        return tuple(self._told.copy().values())

    @property
    def source(self) -> KafkaSource | None:
        """None until it is open."""
        return self._source

    def open(self, endpoints: list[str], bootstrap: str = "") -> None:
        """Asks the brokers at `bootstrap`, or at these endpoints (`LISTENER://host:port`), from now on."""
        protocol: str = (self._security or {}).get("security_protocol", "PLAINTEXT")
        listed = bootstrap or ",".join(_likely(endpoints, protocol))
        with self._turn:
            if not listed or self._source is not None or self._is_closed:
                return
            try:
                address: KafkaAddress = parse_kafka_address(listed)
                source = KafkaSource(address, self._interval_s, security=self._security, connect_s=float("inf"))
            except SourceError as error:
                self._report(SourceStatus("stale", reason=str(error)))
                return
            source.open(self)
            self._source = source

    def want(self, *what: str) -> None:
        """As an Attentive source's."""
        if self._source is not None:
            self._source.want(*what)

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
        if self._source is not None:
            self._source.close()

    def take(self, batch: FactBatch) -> None:
        """As the brokers' sink."""
        told = tuple(record for record in batch.records if _is_theirs(record))
        if told:
            self._keep(told)
            self._tell(msgspec.structs.replace(batch, records=told, listing=False))

    def _keep(self, told: tuple[ClusterRecord, ...]) -> None:
        for record in told:
            subject = str(getattr(record, "group", getattr(record, "broker", getattr(record, "entity", ""))))
            match record:
                case r.GroupDied():
                    self._told = {key: kept for key, kept in self._told.items() if key[1] != subject}
                case r.ConfigRemoved():
                    self._told.pop((r.ConfigChanged, subject), None)
                case _:
                    self._told[type(record), subject] = record

    def report(self, status: SourceStatus) -> None:
        self._report(status)


def _is_theirs(record: ClusterRecord) -> bool:
    if isinstance(record, r.ConfigChanged | r.ConfigRemoved):
        return record.entity.startswith(OWN_SETTINGS)  # all others the log tells
    return isinstance(record, _TOLD_BY_BROKERS)


def _likely(endpoints: list[str], protocol: str) -> list[str]:
    """`host:port` of those that listen for this protocol, as far as names of listeners tell it; else of all."""
    named = [each for each in endpoints if each.startswith(f"{protocol}://")]
    return [each.partition("://")[2] for each in named or endpoints]
