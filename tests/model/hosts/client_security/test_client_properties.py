"""A client.properties as Kafka's tools take it → how to log in; what is wrong with it; where its secrets come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.hosts.client_properties import read_client_properties
from model.hosts.client_security import (
    ClientSecurity,
    KafkaSecurity,
    SaslLogin,
    Secret,
    SecurityError,
    Store,
    Tls,
)

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
SASL = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
CANARY = "canary-4711"


def written(folder: Path, text: str, name: str = "client.properties") -> Path:
    path = folder / name
    path.touch(0o600)
    path.write_text(text, encoding="iso-8859-1")
    return path


def read(folder: Path, text: str, **environment: str) -> ClientSecurity:
    return read_client_properties(written(folder, text), environment)


def refused(folder: Path, text: str, **environment: str) -> str:
    with pytest.raises(SecurityError) as error:
        read(folder, text, **environment)
    said = str(error.value)
    assert said.isprintable()
    assert CANARY not in said
    assert said.startswith(f"{folder / 'client.properties'}:")
    return said.removeprefix(f"{folder / 'client.properties'}:")


def login(mechanism: str, password: str) -> SaslLogin:
    return SaslLogin(mechanism=mechanism, username="alice", password=Secret(password))  # pyright: ignore[reportArgumentType]


def test_nothing_is_plaintext(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n") == ClientSecurity(kafka=KafkaSecurity(protocol="PLAINTEXT"))


@pytest.mark.parametrize(
    ("jaas", "password"),
    [
        (f'{SCRAM} username="alice" password="pass word";', "pass word"),
        (f"{SCRAM} username=alice password=secret ;", "secret"),
        (f"{SCRAM} username='alice' password='it\"s';", 'it"s'),
        (f'{SCRAM} password="a\\\\"b;=\\\\\\\\" \\\n  username="alice";', 'a"b;=\\'),
        (f'{SCRAM} username="alice" /* no */ password="http://x";', "http://x"),
        (f"{SCRAM} username=alice password=a/b+c;", "a/b+c"),
        (f'{SCRAM} username="alice" password="\\u00e4";', "ä"),
    ],
)
def test_scram_with_the_login_as_jaas_writes_it(tmp_path: Path, jaas: str, password: str) -> None:
    found = read(tmp_path, f"{SASL}sasl.jaas.config={jaas}\n")
    assert found.kafka == KafkaSecurity(protocol="SASL_PLAINTEXT", sasl=login("SCRAM-SHA-512", password))
    assert found.warnings == ()


def test_plain_over_tls_with_stores(tmp_path: Path) -> None:
    for name in ("trust.jks", "own.p12"):
        (tmp_path / name).touch()
    text = f"""
        security.protocol = sasl_ssl
        sasl.mechanism: PLAIN
        sasl.jaas.config {PLAIN} username="alice" password="s3cret";
        ssl.truststore.location=trust.jks
        ssl.truststore.password=changeit
        ssl.truststore.type=jks
        ssl.keystore.location={tmp_path}/own.p12
        ssl.keystore.password=storepass
        ssl.key.password=keypass
        ssl.keystore.type=PKCS12
        ssl.endpoint.identification.algorithm=
        ssl.enabled.protocols=TLSv1.2,TLSv1.1
        ssl.protocol=TLSv1.3
    """
    trust = Store(type="JKS", location=str(tmp_path / "trust.jks"), password=Secret("changeit"))
    own = Store(
        type="PKCS12",
        location=str(tmp_path / "own.p12"),
        password=Secret("storepass"),
        key_password=Secret("keypass"),
    )
    assert read(tmp_path, text).kafka == KafkaSecurity(
        protocol="SASL_SSL",
        sasl=login("PLAIN", "s3cret"),
        tls=Tls(truststore=trust, keystore=own, check_hostname=False, protocols=("TLSv1.2",)),
    )


def test_pem_within_the_file(tmp_path: Path) -> None:
    pem = "-----BEGIN CERTIFICATE-----\\nMII\\n-----END CERTIFICATE-----"
    text = f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates={pem}\n"
    tls = read(tmp_path, text).kafka.tls
    assert tls == Tls(truststore=Store(type="PEM", certificates=pem.replace("\\n", "\n")))


def test_zookeepers_part_is_for_zookeeper(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    text = """
        zookeeper.ssl.client.enable=true
        zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty
        zookeeper.ssl.truststore.location=ca.pem
    """
    found = read(tmp_path, text)
    assert found.zookeeper == Tls(truststore=Store(location=str(tmp_path / "ca.pem")))
    assert found.kafka == KafkaSecurity()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("security.protocol=SSLX", "1: security.protocol: there is no 'SSLX': write one of PLAINTEXT, SSL, SASL_PLAI"),
        ("\nsecurity.protocol=SASL_SSL", " sasl.mechanism: kdrill has no GSSAPI (Kafka's default is GSSAPI): write"),
        (f"{SASL}sasl.mechanism=OAUTHBEARER", "3: sasl.mechanism: kdrill has no OAUTHBEARER"),
        (SASL, " sasl.jaas.config: username and password are needed; write: MODULE required username="),
        (f"{SASL}sasl.jaas.config={CANARY}", "3: sasl.jaas.config: is no login; write: MODULE"),
        (f'{SASL}sasl.jaas.config={SCRAM} password="{CANARY};', "3: sasl.jaas.config: a quote is not closed"),
        (f"{SASL}sasl.jaas.config={SCRAM} a {CANARY};", "3: sasl.jaas.config: option 1 is not name=value"),
        (
            f'{SASL}sasl.jaas.config={PLAIN} username="a" password="{CANARY}";',
            "3: sasl.jaas.config: PlainLoginModule is for PLAIN, and sasl.mechanism is SCRAM-SHA-512",
        ),
        (
            f'{SASL}sasl.jaas.config=x.Krb5LoginModule required a="{CANARY}";',
            "3: sasl.jaas.config: kdrill has no 'Krb5",
        ),
        ("a=1\nssl.truststore.location=none.jks", "2: ssl.truststore.location: "),
        ("ssl.truststore.type=BKS", "1: ssl.truststore.type: there is no 'BKS': write one of PEM, PKCS12, JKS"),
        ("ssl.endpoint.identification.algorithm=dns", "1: ssl.endpoint.identification.algorithm: write https"),
        ("ssl.enabled.protocols=TLSv1.1", "1: ssl.enabled.protocols: write TLSv1.2, TLSv1.3 or one of them"),
        (f"ssl.keystore.key={CANARY}", " ssl.keystore.certificate.chain: is missing beside the other"),
        ("zookeeper.ssl.client.enable=yes", "1: zookeeper.ssl.client.enable: there is no 'yes': write one of TRUE"),
        (
            "zookeeper.ssl.client.enable=true\nzookeeper.clientCnxnSocket=o.a.z.ClientCnxnSocketNIO",
            "2: zookeeper.clientCnxnSocket: cannot do TLS; write org.apache.zookeeper.ClientCnxnSocketNetty",
        ),
        (
            "zookeeper.ssl.endpoint.identification.algorithm=",
            " zookeeper.ssl.client.enable: has to be true where other keys of zookeeper.ssl are set",
        ),
        ("sasl.password=${env:KDRILL_NONE}", "1: sasl.password: the environment variable KDRILL_NONE is not set"),
        ("\nsasl.password=${file:/none/of/it}", "2: sasl.password: /none/of/it cannot be read: No such file"),
        ("sasl.password=${file:~nobody.of.that.name/x}", "1: sasl.password: "),
        ("security.protocol=SSL\nssl.truststore.location=~nobody.of.that.name/x", "2: ssl.truststore.location: "),
        ("config.providers=vault", "1: config.providers: config.providers.vault.class is missing"),
        (
            "config.providers=v\nconfig.providers.v.class=x.VaultProvider",
            "2: config.providers.v.class: x.VaultProvider is not known; there are EnvVarConfigProvider, FileConfig",
        ),
        (f"sasl.password={CANARY}\\u12", "1: \\u without four hexadecimal digits"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_line_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    assert complaint in refused(tmp_path, text)[: len(complaint)]


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(SecurityError, match=r"sasl\.password: .* cannot be read: it is not UTF-8 text, or no path$"):
        read(tmp_path, "sasl.password=${file:a\\u0000b}")
    with pytest.raises(SecurityError, match=r"/dev/zero cannot be read: a device, and no file$"):
        read(tmp_path, "sasl.password=${file:/dev/zero}")
    with pytest.raises(SecurityError, match=r"cannot be read: embedded null byte$"):
        read_client_properties(Path("a\0b"))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(SecurityError, match=r"^/none/x\.properties: cannot be read: No such file or directory$"):
        read_client_properties(Path("/none/x.properties"))


def test_secrets_come_from_the_environment_and_from_files(tmp_path: Path) -> None:
    written(tmp_path, 'quoted " secret\n', "secret")
    written(tmp_path, "other=1\npassword=kept\\ apart\n", "secrets.properties")
    jaas = f'sasl.jaas.config={SCRAM} username="${{env:WHO}}" password="%s";\n'

    def password(reference: str, more: str = "") -> str:
        found = read(tmp_path, SASL + jaas.replace("${env:WHO}", "alice") % reference + more, NAME="by name")
        assert found.kafka.sasl
        assert found.warnings == ()
        return found.kafka.sasl.password.text

    assert password("${env:NAME}") == "by name"
    assert password("${file:secret}") == 'quoted " secret'
    assert password(f"${{file:{tmp_path}/secrets.properties:password}}") == "kept apart"
    assert password(f"${{directory:{tmp_path}:secret}}") == 'quoted " secret'
    assert password("${no:such}") == "${no:such}"
    declared = "config.providers=mine\nconfig.providers.mine.class=org.apache.kafka.common.config.provider.%s\n"
    assert password("${mine:NAME}", declared % "EnvVarConfigProvider") == "by name"
    assert password("${env:NAME}", declared % "EnvVarConfigProvider") == "${env:NAME}"
    assert password("${mine:secrets.properties:password}", declared % "FileConfigProvider") == "kept apart"


def test_a_whole_login_may_be_elsewhere(tmp_path: Path) -> None:
    written(tmp_path, f'{SCRAM} username="alice" password="{CANARY}";', "jaas")
    found = read(tmp_path, f"{SASL}sasl.jaas.config=${{file:jaas}}\n")
    assert found.kafka.sasl == login("SCRAM-SHA-512", CANARY)


def test_keys_that_are_not_used_are_told_once_with_their_lines(tmp_path: Path) -> None:
    found = read(tmp_path, "security.protocol=PLAINTEXT\nbootstrap.servers=x:1\nssl.protocl=TLS\n")
    assert found.warnings == (
        f"{tmp_path}/client.properties: not used: bootstrap.servers (line 2), ssl.protocl (line 3)",
    )


def test_a_secret_that_everybody_may_read_is_told(tmp_path: Path) -> None:
    jaas = f'sasl.jaas.config={SCRAM} username="alice" password="%s";\n'
    path = written(tmp_path, SASL + jaas % CANARY)
    path.chmod(0o644)
    warning = f"{path} holds a secret and everybody on this machine may read it: chmod o-r"
    assert read_client_properties(path).warnings == (warning,)
    path.write_text(SASL + jaas % "${file:secret}")
    secret = written(tmp_path, CANARY, "secret")
    assert read_client_properties(path).warnings == ()
    secret.chmod(0o604)
    assert read_client_properties(path).warnings == (warning.replace(str(path), str(secret)),)
