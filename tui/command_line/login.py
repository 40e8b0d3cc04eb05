"""How to log in: what the configuration says of a cluster, and a client.properties beside it. Connects nowhere."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from model.hosts.client_security.values import Secret, SecurityError, Store, Tls
from tui.config import ClusterConfig, Config, ConfigError, Elsewhere, SaslConfig, TlsConfig
from tui.data.opening import Login


def login_of(cluster: ClusterConfig, config: Config, key: str) -> Login:
    """What the configuration says of one cluster, which stands there under `key`. Raises ConfigError."""
    auth = config.secret(cluster.auth, f"{key}.auth")
    scheme, colon, secret = auth.partition(":")
    if auth and not (scheme and colon):
        raise config.error(f"{key}.auth", "write it as digest:user:password")
    return Login(
        credentials=((scheme, secret),) if auth else (),
        sasl=cluster.sasl and _sasl(cluster.sasl, config, key),
        tls=cluster.tls and _tls(cluster.tls, config, key),
        variables=tuple(_variables(cluster)),
    )


def _variables(cluster: ClusterConfig) -> Iterator[str]:
    """Environment variables that its secrets stand in."""
    secrets = (cluster.auth, cluster.sasl and cluster.sasl.password, cluster.tls and cluster.tls.key_password)
    yield from (secret.env for secret in secrets if isinstance(secret, Elsewhere) and secret.env)


def with_properties(login: Login, path: Path | None) -> Login:
    """The login as a client.properties has it, as far as it says anything. Raises ConfigError."""
    if path is None:
        return login
    # Only those who log in by such a file wait for its reader to load.
    from model.hosts.client_security.client_properties import read_client_properties  # noqa: PLC0415

    try:
        found = read_client_properties(path)
    except SecurityError as error:
        raise ConfigError(str(error)) from None
    return msgspec.structs.replace(
        login,
        kafka=found.kafka,
        tls=found.zookeeper or login.tls,
        warnings=found.warnings,
        variables=(*login.variables, *found.variables),
    )


def _sasl(sasl: SaslConfig, config: Config, key: str) -> dict[str, str]:
    password = config.secret(sasl.password, f"{key}.sasl.password")
    return {"mechanism": sasl.mechanism, "username": sasl.username, "password": password}


def _tls(tls: TlsConfig, config: Config, key: str) -> Tls:
    ca, certificate = config.beside(tls.ca), config.beside(tls.cert)
    for place in filter(None, (ca, certificate, config.beside(tls.key))):
        if not Path(place).is_file():
            raise config.error(f"{key}.tls", f"{place} is no file; check the path")
    own = Store(
        type="PEM",
        location=certificate,
        key_location=config.beside(tls.key),
        key_password=Secret(config.secret(tls.key_password, f"{key}.tls.key_password")),
    )
    return Tls(
        truststore=Store(type="PEM", location=ca) if ca else None,
        keystore=own if certificate else None,
        check_hostname=tls.check_hostname,
    )
