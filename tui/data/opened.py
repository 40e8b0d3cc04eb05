"""An `Opening` → the source it names, not opened yet. Knows no screens and no configuration files."""

from model.hosts.zookeeper.settings import Credential, Sasl, Tls
from model.sources.combined_source import CombinedSource
from model.sources.naming import parse_source
from model.sources.snapshot_source import SnapshotSource
from model.sources.source import Source, SourceError
from model.sources.zookeeper.address import ZooKeeperAddress
from model.sources.zookeeper.follower import Timing
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tui.data.opening import Opening

REFUSED_S = Timing().refused_s


def source_of(opening: Opening) -> Source:
    """Raises SourceError, as one line, for what cannot be a source."""
    named = parse_source(opening.source)
    if not isinstance(named, ZooKeeperAddress):
        return SnapshotSource(named)
    limit_s, login = opening.connect_timeout_s, opening.login
    try:
        zookeeper = ZooKeeperSource(
            named,
            Timing() if limit_s is None else Timing(connect_s=limit_s, refused_s=min(limit_s, REFUSED_S)),
            credentials=[Credential(scheme, secret) for scheme, secret in login.credentials],
            sasl=None if login.sasl is None else Sasl(**login.sasl),
            tls=None if login.tls is None else Tls(**login.tls),  # pyright: ignore[reportArgumentType]
        )
    except ValueError as error:
        raise SourceError(f"{named}: {error}") from None
    return _with_groups(zookeeper, opening.bootstrap) if opening.bootstrap else zookeeper


def _with_groups(zookeeper: ZooKeeperSource, bootstrap: str) -> Source:
    # Kafka's protocol takes a while to load, and only those who ask brokers need it.
    from model.sources.coordinator_groups.source import CoordinatorGroupsSource  # noqa: PLC0415

    return CombinedSource(zookeeper, CoordinatorGroupsSource(bootstrap))
