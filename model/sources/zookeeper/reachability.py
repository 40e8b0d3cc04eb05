"""Whether a ZooKeeper address is worth more patience. Sends nothing: it only tries to connect."""

import socket

from model.hosts.zookeeper.settings import hosts_of
from model.sources.zookeeper.address import ZooKeeperAddress

TRIAL_S = 1.0


def all_refuse(address: ZooKeeperAddress) -> bool:
    """Whether every host refuses connections or has no address. A host that is silent may only be slow."""
    return all(_refuses(host) for host in hosts_of(address.hosts))


def _refuses(host: tuple[str, int]) -> bool:
    try:
        socket.create_connection(host, TRIAL_S).close()
    except (ConnectionRefusedError, socket.gaierror, UnicodeError):
        return True
    except OSError:
        return False
    return False
