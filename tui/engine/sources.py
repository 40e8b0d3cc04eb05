"""An `Opening` → the source it names, not opened yet. Knows no screens and no configuration files."""

from pathlib import Path
from typing import Any

from model.hosts.client_security import SecurityError
from model.hosts.process import without_hypothesis
from model.hosts.tls import kafka_options, tls_context
from model.hosts.zookeeper.settings import Credential, Sasl
from model.sources.addresses import (
    ControllersAddress,
    KafkaAddress,
    MetadataLogName,
    RecordingName,
    ZooKeeperAddress,
    parse_source,
)
from model.sources.combined_source import CombinedSource
from model.sources.source import Source, SourceError
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from tui.engine.messages import Login, Opening

REFUSED_S = FollowerTiming().refused_s


def source_of(opening: Opening) -> Source:
    """Raises SourceError, as one line, for what cannot be a source."""
    named = parse_source(opening.source)
    if isinstance(named, RecordingName):
        return _recording(named)
    if isinstance(named, MetadataLogName):
        return _metadata_log(named)
    if isinstance(named, KafkaAddress):
        return _brokers(named, opening)
    if isinstance(named, ControllersAddress):
        return _controllers(named, opening)
    if not isinstance(named, ZooKeeperAddress):
        return _file(named)
    if opening.demo_began_ms:
        from model.sandbox.demo.demo import DemoSource  # noqa: PLC0415 - only the demo pays for it

        return DemoSource(named, opening.demo_began_ms)
    limit_s, login = opening.connect_timeout_s, opening.login
    try:
        zookeeper = ZooKeeperSource(
            named,
            FollowerTiming()
            if limit_s is None
            else FollowerTiming(connect_s=limit_s, refused_s=min(limit_s, REFUSED_S)),
            limits=opening.limits,
            **zookeeper_login(login),
        )
    except ValueError as error:
        raise SourceError(f"{named}: {error}") from None
    return _with_groups(zookeeper, opening) if opening.bootstrap else zookeeper


def zookeeper_login(login: Login) -> dict[str, Any]:
    """Keyword arguments of a ZooKeeper's Settings. Raises ValueError, as one line; may take a second (keytool)."""
    return {
        "credentials": tuple(Credential(scheme, secret) for scheme, secret in login.credentials),
        "sasl": None if login.sasl is None else Sasl(**login.sasl),
        "tls": None if login.tls is None else tls_context(login.tls),
    }


def _file(path: Path) -> Source:
    # Arrow takes a while to load, and a cluster that is followed does not need it.
    from model.sources.file_source import file_source  # noqa: PLC0415

    return file_source(path)


def _recording(name: RecordingName) -> Source:
    from model.sources.file_source import RecordingSource  # noqa: PLC0415 - as above

    return RecordingSource(name)


def _metadata_log(name: MetadataLogName) -> Source:
    from model.sources.metadata_log.metadata_log_source import MetadataLogSource  # noqa: PLC0415 - takes Arrow, too

    return MetadataLogSource(name)


def _with_groups(zookeeper: ZooKeeperSource, opening: Opening) -> Source:
    # Kafka's protocol takes a while to load, and only those who ask brokers need it.
    with without_hypothesis():
        from model.sources.kafka.groups import INTERVAL_S, CoordinatorGroupsSource  # noqa: PLC0415

    security, poll_s = _security(opening), opening.poll_s or INTERVAL_S
    return CombinedSource(zookeeper, CoordinatorGroupsSource(opening.bootstrap, poll_s, security=security))


def _brokers(address: KafkaAddress, opening: Opening) -> Source:
    with without_hypothesis():
        from model.sources.kafka.kafka_source import CONNECT_S, INTERVAL_S, KafkaSource  # noqa: PLC0415 - as above
        from model.sources.quorum.cluster_source import ClusterSource  # noqa: PLC0415

    connect_s, security = (
        CONNECT_S if opening.connect_timeout_s is None else opening.connect_timeout_s,
        _security(opening),
    )
    polling = KafkaSource(address, opening.poll_s or INTERVAL_S, security=security, connect_s=connect_s)
    return ClusterSource(polling, security)


def _controllers(address: ControllersAddress, opening: Opening) -> Source:
    with without_hypothesis():
        from model.sources.kafka.kafka_source import CONNECT_S, INTERVAL_S  # noqa: PLC0415 - as above
        from model.sources.quorum.quorum_source import QuorumSource  # noqa: PLC0415

    connect_s = CONNECT_S if opening.connect_timeout_s is None else opening.connect_timeout_s
    poll_s, security = opening.poll_s or INTERVAL_S, _security(opening)
    return QuorumSource(address, opening.bootstrap, poll_s, security, connect_s)


def _security(opening: Opening) -> dict[str, Any]:
    try:
        return kafka_options(opening.login.kafka)
    except SecurityError as error:
        raise SourceError(str(error)) from None
