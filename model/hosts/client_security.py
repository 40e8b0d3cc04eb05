"""What a client.properties says of how to log in, as values that travel to the process which connects.

Nothing here reads a file or connects. No secret is in a `repr`.
"""

from typing import Literal, get_args

import msgspec

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
StoreType = Literal["", "PEM", "PKCS12", "JKS"]

PROTOCOLS: tuple[str, ...] = get_args(Protocol)
MECHANISMS: tuple[str, ...] = get_args(Mechanism)
STORE_TYPES: tuple[str, ...] = get_args(StoreType)[1:]
TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")


class SecurityError(ValueError):
    """What cannot be used to log in; the message is one line without secrets."""


class Hidden(str):
    """A secret for those who want a `str`; they may log it, as kafka-python does its configuration."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


class Secret(msgspec.Struct, frozen=True):
    """A text that nobody is shown."""

    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.text)

    def __repr__(self) -> str:
        return "***" if self.text else "''"


NONE = Secret()


class Store(msgspec.Struct, frozen=True, kw_only=True):
    """Certificates, and perhaps a key, in a file or as PEM text."""

    type: StoreType = ""
    """Empty: as the file looks."""
    location: str = ""
    """The store's file; for PEM the certificates, and the key where `key_location` is empty."""
    password: Secret = NONE
    certificates: str = ""
    """PEM text in the place of a file."""
    key: Secret = NONE
    """PEM text in the place of a file."""
    key_location: str = ""
    """A PEM file with the key alone."""
    key_password: Secret = NONE


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to trust, and whom to be."""

    truststore: Store | None = None
    """None: the authorities that this machine trusts."""
    keystore: Store | None = None
    """Certificate and key to show to a server that asks for one."""
    check_hostname: bool = True
    """Whether the server's certificate has to be for the name that was asked for."""
    protocols: tuple[str, ...] = ()
    """Of TLS_VERSIONS; empty: all of them."""


class SaslLogin(msgspec.Struct, frozen=True, kw_only=True):
    """A name and its password."""

    mechanism: Mechanism
    username: str
    password: Secret


class KafkaSecurity(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in to brokers."""

    protocol: Protocol = "PLAINTEXT"
    sasl: SaslLogin | None = None
    """There where the protocol has SASL."""
    tls: Tls | None = None
    """There where the protocol has SSL."""


class ClientSecurity(msgspec.Struct, frozen=True, kw_only=True):
    """All that one file says."""

    kafka: KafkaSecurity = KafkaSecurity()
    zookeeper: Tls | None = None
    """None where the file does not have `zookeeper.ssl.client.enable=true`."""
    warnings: tuple[str, ...] = ()
    """Lines for the operator: keys that are not used, files that others may read."""
    variables: tuple[str, ...] = ()
    """Environment variables that hold some of it: no child process needs them."""
