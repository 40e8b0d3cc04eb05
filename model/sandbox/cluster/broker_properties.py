"""What a sandbox's broker is told: the text of its server.properties. Pure."""

from collections.abc import Mapping

from model.broker.settings.fault_keys import KDRILL_FAULT_FOLDER
from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.links.switchboard import CLIENT, REPLICATION
from model.sandbox.ports import LOOPBACK


def broker_properties(
    options: SandboxOptions, broker: int, *, folder: str, zookeeper: str, advertised: Mapping[str, str]
) -> Mapping[str, str]:
    """The keys and values; a broker listens where the system lets it, and tells others the proxies' addresses.

    `advertised` is the address of each listener, `zookeeper` a connect string with its chroot.
    """
    replicas = str(min(3, options.brokers))
    rack = options.rack_of(broker)
    listeners = (CLIENT, REPLICATION)
    return {
        "broker.id": str(broker),
        **({"broker.rack": rack} if rack else {}),
        "listeners": ",".join(f"{name}://{LOOPBACK}:0" for name in listeners),
        "advertised.listeners": ",".join(f"{name}://{advertised[name]}" for name in listeners),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
        "inter.broker.listener.name": REPLICATION,
        "log.dirs": f"{folder}/logs",
        "zookeeper.connect": zookeeper,
        # A drill should not wait for 18 s until a dead broker is missed.
        "zookeeper.session.timeout.ms": "6000",
        "default.replication.factor": replicas,
        "num.partitions": "6",
        "min.insync.replicas": "2" if options.brokers > 2 else "1",
        "replica.lag.time.max.ms": "10000",
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "10",
        "group.initial.rebalance.delay.ms": "500",
        "controlled.shutdown.retry.backoff.ms": "500",
        KDRILL_FAULT_FOLDER.name: f"{folder}/faults",
        **options.settings,
    }


def as_text(properties: Mapping[str, str]) -> str:
    """As java.util.Properties reads it; backslashes begin an escape there."""
    return "".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items())
