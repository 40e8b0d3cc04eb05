"""How a connection is secured: TLS, a SASL mechanism, both or neither. Values only; `connection` carries it out.

The steps of the mechanisms themselves are kafka-python's (`kafka.net.sasl`), which know no sockets.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast


class Steps(Protocol):
    """One login, from our side."""

    def auth_bytes(self) -> bytes:
        """What to send next."""
        ...

    def receive(self, auth_bytes: bytes, /) -> object:
        """What came back. Raises ValueError where it is not what a broker would say that knows the password."""
        ...

    def is_done(self) -> bool:
        """Whether nothing more is to be sent."""
        ...


@dataclass(frozen=True)
class Security:
    """`sasl` begins a login at a host; `mechanism` is its name."""

    tls: ssl.SSLContext | None = None
    mechanism: str = ""
    sasl: Callable[[str], Steps] | None = None


PLAINTEXT = Security()


def security_of(options: Mapping[str, Any]) -> Security:
    """From options as kafka-python takes them: security_protocol, ssl_context, sasl_mechanism, sasl_plain_username …

    An empty mapping is PLAINTEXT. Raises ValueError for a mechanism that nobody knows here.
    """
    protocol: str = options.get("security_protocol", "PLAINTEXT")
    tls: ssl.SSLContext | None = None
    if protocol.endswith("SSL"):
        tls = options.get("ssl_context") or ssl.create_default_context()
    if not protocol.startswith("SASL"):
        return Security(tls)
    # Loads all of kafka-python, which only those pay for who log in.
    from kafka.net import sasl  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    mechanisms = cast("Mapping[str, Callable[..., Steps]]", vars(sasl)["SASL_MECHANISMS"])
    mechanism: str = options.get("sasl_mechanism") or ""
    if mechanism not in mechanisms:
        raise ValueError(f"{mechanism or 'no SASL mechanism'}: write one of {', '.join(sorted(mechanisms))}")
    return Security(tls, mechanism, lambda host: mechanisms[mechanism](host=host, **options))
