"""A file in the format of Kafka's own client.properties → how to log in. Connects nowhere.

Keys: Kafka 3.9 `CommonClientConfigs`, `SslConfigs`, `SaslConfigs`; for ZooKeeper those of `--zk-tls-config-file`
(`ZkConfigs`). `sasl.username` and `sasl.password` are librdkafka's. `sasl.jaas.config` is read as Kafka 3.9
`JaasConfig` does, `MODULE FLAG name="value" …;`, the format of Java's login configuration files.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

from model.hosts.client_security import (
    MECHANISMS,
    PROTOCOLS,
    STORE_TYPES,
    TLS_VERSIONS,
    ClientSecurity,
    KafkaSecurity,
    Mechanism,
    Protocol,
    SaslLogin,
    Secret,
    SecurityError,
    Store,
    StoreType,
    Tls,
)
from model.hosts.properties_file import PropertiesFile

_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/ | (?P<quoted>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*') | (?P<sign>[=;])
    | (?P<word>(?:[^\s=;"'/]|/(?![/*]))+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
WRITE_IT = 'write: MODULE required username="…" password="…";'


class JaasLogin(NamedTuple):
    """One entry. The options hold the password: not to be shown."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"JaasLogin({self.module!r}, ***)"


def parse_jaas(text: str) -> JaasLogin:
    """Raises SecurityError, which quotes nothing of the text."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[-1] != (";", True) or tokens[1][0] not in _FLAGS:
        raise SecurityError(f"is no login; {WRITE_IT}")
    options: dict[str, str] = {}
    rest = tokens[2:-1]
    for place in range(0, len(rest), 3):
        match rest[place : place + 3]:
            case [(name, False), ("=", True), (value, False)]:
                options[name] = value
            case _:
                raise SecurityError(f"option {place // 3 + 1} is not name=value; {WRITE_IT}")
    return JaasLogin(tokens[0][0], options)


def _tokens(text: str) -> list[tuple[str, bool]]:
    """(text, whether it is a sign and no word)."""
    tokens: list[tuple[str, bool]] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise SecurityError(f"a quote is not closed, or a sign has to be in quotes; {WRITE_IT}")
        place = found.end()
        if quoted := found["quoted"]:
            tokens.append((_ESCAPED.sub(_meant, quoted[1:-1]), False))
        elif word := found["word"] or found["sign"]:
            tokens.append((word, found["sign"] is not None))
    return tokens


def _meant(escape: re.Match[str]) -> str:
    what = escape[1]
    return chr(int(what, 8)) if what[0] in "01234567" else _LETTERS.get(what, what)


JAAS = "sasl.jaas.config"
_MODULES = {"PlainLoginModule": ("PLAIN",), "ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512")}
_NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty"


def read_client_properties(path: Path, environment: Mapping[str, str] = os.environ) -> ClientSecurity:
    """Raises SecurityError: one line with file, line and key, and without secrets."""
    file = PropertiesFile(path, environment)
    kafka, zookeeper = _kafka(file), _zookeeper(file)
    return ClientSecurity(kafka=kafka, zookeeper=zookeeper, warnings=file.warnings(), variables=file.variables)


def _kafka(file: PropertiesFile) -> KafkaSecurity:
    protocol = cast("Protocol", file.one_of("security.protocol", PROTOCOLS, "PLAINTEXT"))
    # Both are read whatever the protocol: what is wrong in them is told, and what is there is no unknown key.
    sasl, tls = _sasl(file, is_needed="SASL" in protocol), _tls(file, "ssl.")
    return KafkaSecurity(
        protocol=protocol, sasl=sasl if "SASL" in protocol else None, tls=tls if "SSL" in protocol else None
    )


def _sasl(file: PropertiesFile, *, is_needed: bool) -> SaslLogin | None:
    mechanism = file.text("sasl.mechanism", "GSSAPI").upper()
    username, password = file.text("sasl.username"), file.secret("sasl.password")
    jaas = _jaas(file)
    if not is_needed:
        return None
    if mechanism not in MECHANISMS:
        file.refuse("sasl.mechanism", f"kdrill has no {mechanism[:40]} (Kafka's default is GSSAPI): {_choices()}")
    if jaas:
        _check_module(file, jaas, mechanism)
        username = jaas.options.get("username", "")
        password = Secret(file.resolved(JAAS, jaas.options.get("password", "")))
    if not (username and password):
        file.refuse(JAAS, f"username and password are needed; {WRITE_IT}")
    return SaslLogin(mechanism=cast("Mechanism", mechanism), username=username, password=password)


def _choices() -> str:
    return f"write one of {', '.join(MECHANISMS)}"


def _jaas(file: PropertiesFile) -> JaasLogin | None:
    written = file.unresolved(JAAS)
    if not written:
        return None
    try:
        # A reference within it is looked up once it is taken apart: a secret may have quotes in it.
        return parse_jaas(file.text(JAAS) if written.startswith("${") else written)
    except SecurityError as error:
        file.refuse(JAAS, str(error))


def _check_module(file: PropertiesFile, jaas: JaasLogin, mechanism: str) -> None:
    module = jaas.module.rpartition(".")[2]
    if module not in _MODULES:
        file.refuse(JAAS, f"kdrill has no {module[:60]!r}; there are {', '.join(_MODULES)}")
    if mechanism not in _MODULES[module]:
        file.refuse(JAAS, f"{module} is for {' and '.join(_MODULES[module])}, and sasl.mechanism is {mechanism}")


def _zookeeper(file: PropertiesFile) -> Tls | None:
    prefix = "zookeeper.ssl."
    is_on = file.one_of(f"{prefix}client.enable", ("TRUE", "FALSE"), "false") == "TRUE"
    socket = file.text("zookeeper.clientCnxnSocket", _NETTY)
    tls = _tls(file, prefix)
    if is_on and not socket.endswith("Netty"):
        file.refuse("zookeeper.clientCnxnSocket", f"cannot do TLS; write {_NETTY}")
    if not is_on and tls != Tls():
        file.refuse(f"{prefix}client.enable", "has to be true where other keys of zookeeper.ssl are set")
    return tls if is_on else None


def _tls(file: PropertiesFile, prefix: str) -> Tls:
    algorithm = file.text(f"{prefix}endpoint.identification.algorithm", "https").lower()
    if algorithm not in ("https", ""):
        file.refuse(f"{prefix}endpoint.identification.algorithm", "write https, or nothing for no check of the name")
    return Tls(
        truststore=_store(file, f"{prefix}truststore.", is_own=False, prefix=prefix),
        keystore=_store(file, f"{prefix}keystore.", is_own=True, prefix=prefix),
        check_hostname=bool(algorithm),
        protocols=_protocols(file, prefix),
    )


def _store(file: PropertiesFile, start: str, *, is_own: bool, prefix: str) -> Store | None:
    type_ = "" if not file.text(f"{start}type") else file.one_of(f"{start}type", STORE_TYPES, "")
    location, password = file.place(f"{start}location"), file.secret(f"{start}password")
    certificates = file.text(f"{start}{'certificate.chain' if is_own else 'certificates'}")
    key = file.secret(f"{start}key") if is_own else Secret()
    key_password = file.secret(f"{prefix}key.password") if is_own else Secret()
    if not (location or certificates or key):
        return None
    if location and (certificates or key):
        file.refuse(f"{start}location", "the certificates are in this file too; write one of both")
    if is_own and bool(certificates) != bool(key):
        file.refuse(f"{start}{'key' if certificates else 'certificate.chain'}", "is missing beside the other")
    return Store(
        type=cast("StoreType", type_ if location else "PEM"),
        location=location,
        password=password,
        certificates=certificates,
        key=key,
        key_password=key_password,
    )


def _protocols(file: PropertiesFile, prefix: str) -> tuple[str, ...]:
    file.text(f"{prefix}protocol")  # what Java begins with; which ones are spoken the other key says
    key = f"{prefix}enabled.protocols"
    said = [name.strip().upper() for name in file.text(key).split(",") if name.strip()]
    spoken = tuple(version for version in TLS_VERSIONS if version.upper() in said)
    if said and not spoken:
        file.refuse(key, f"write {', '.join(TLS_VERSIONS)} or one of them: nobody should speak older ones")
    return spoken
