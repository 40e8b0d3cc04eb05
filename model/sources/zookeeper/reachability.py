"""Whether a ZooKeeper address is worth more patience. It only tries to connect, and to begin TLS."""

import socket
import ssl

from model.hosts.client_security.refusals import PLAIN_ON_TLS
from model.hosts.zookeeper.settings import hosts_of
from model.sources.zookeeper.address import ZooKeeperAddress

TRIAL_S = 1.0


def why_hopeless(address: ZooKeeperAddress, *, tls: bool) -> str | None:
    """Why no more patience helps, as far as the last failure does not say it; None where it may help.

    That is where every host refuses connections or has no address, or speaks TLS where we do not, or the other way
    round. A host that is silent may only be slow.
    """
    hosts = hosts_of(address.hosts)
    if all(map(_refuses, hosts)):
        return ""
    if any(_speaks_tls(host) is not (not tls) for host in hosts):
        return None
    return "" if tls else PLAIN_ON_TLS


def _speaks_tls(host: tuple[str, int]) -> bool | None:
    """Whether the server answers a TLS greeting; None where it cannot be had. Trusts nobody, and tells nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(host, TRIAL_S) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError as error:
        # What ends without a word is a plain ZooKeeper, to which the greeting was a request that is far too long.
        return not isinstance(error, ssl.SSLEOFError) and "wrong_version" not in str(error.reason).lower()
    except (ConnectionResetError, BrokenPipeError):
        return False
    except (OSError, UnicodeError):
        return None


def _refuses(host: tuple[str, int]) -> bool:
    try:
        socket.create_connection(host, TRIAL_S).close()
    except (ConnectionRefusedError, socket.gaierror, UnicodeError):
        return True
    except OSError:
        return False
    return False
