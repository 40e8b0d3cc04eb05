"""kazoo's handler, for connections that are TLS by a context which was made once. Knows no file and no key.

kazoo makes a context of files for every connection, trusts this machine's authorities beside those it was given, and
tries for ever where a certificate is not taken.
"""

import contextlib
import socket
import ssl
from typing import Any

from kazoo.exceptions import AuthFailedError
from kazoo.handlers.threading import SequentialThreadingHandler

from model.hosts.client_security.refusals import is_refused_for_good, why_tls_failed

# pyright: basic
# kazoo has no types.


class TlsConnector(SequentialThreadingHandler):
    """Connects by TLS. Where every host in turn has a certificate that is not taken, AuthFailedError ends the tries."""

    def __init__(self, context: ssl.SSLContext, hosts: int) -> None:
        super().__init__()
        self._context = context
        self._context.sslsocket_class = _Socket
        self._hosts = hosts
        self._refusals = 0

    def create_connection(self, address: Any, hostname: Any = None, timeout: Any = None, **_: object) -> ssl.SSLSocket:
        """A socket after its handshake; what else kazoo says of TLS is the context's. Raises OSError."""
        plain = socket.create_connection(address, timeout)
        with contextlib.ExitStack() as undo:
            undo.callback(plain.close)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                secured = self._context.wrap_socket(plain, server_hostname=hostname)
            except OSError as error:
                self._refusals += is_refused_for_good(error)
                why = why_tls_failed(error, in_handshake=True)
                raise _told(error, why, is_final=self._refusals >= self._hosts) from error
            undo.pop_all()
        self._refusals = 0
        return secured


class _Socket(ssl.SSLSocket):
    """Says in words why the server ended it: with TLS 1.3 a server judges our certificate after the handshake."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            why = why_tls_failed(error, in_handshake=False)
            raise _told(error, why, is_final=is_refused_for_good(error)) from error


def _told(error: OSError, why: str, *, is_final: bool) -> Exception:
    if not why:
        return error
    return AuthFailedError(why) if is_final else OSError(error.errno, why)
