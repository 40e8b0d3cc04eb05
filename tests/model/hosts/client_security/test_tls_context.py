"""Stores of every kind, tried in handshakes with a server in memory; and what is said of those that come to nothing."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model.hosts.client_security import Secret, SecurityError, Store, Tls
from model.hosts.tls import is_refused_for_good, is_tls_alert, tls_context, tls_refusal
from tests.authority import PASSWORD, Authority, Identity

STORE_PASSWORD = Secret(PASSWORD)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Identity:
    return authority.issue("server", "localhost", "127.0.0.1")


@pytest.fixture(scope="module")
def client(authority: Authority) -> Identity:
    return authority.issue("alice")


@pytest.fixture(scope="module")
def to_jks(authority: Authority) -> Callable[[Path], Path]:
    """keytool's copy of a PKCS12 store as JKS."""
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("no keytool (it comes with Java)")

    def copy(store: Path) -> Path:
        target = store.with_suffix(".jks")
        passwords = ["-srcstorepass", PASSWORD, "-deststorepass", PASSWORD]
        stores = ["-srckeystore", str(store), "-destkeystore", str(target), "-deststoretype", "JKS"]
        subprocess.run([keytool, "-importkeystore", "-noprompt", *stores, *passwords], check=True, capture_output=True)
        return target

    return copy


def shaken(ours: ssl.SSLContext, identity: Identity, trusted: Path | None = None, name: str = "localhost") -> str:
    """Both sides of a handshake and a byte beyond it; the name on our certificate, as the server sees it."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(identity.certificate, identity.key)
    if trusted:
        theirs.verify_mode = ssl.CERT_REQUIRED
        theirs.load_verify_locations(trusted)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (ours.wrap_bio(back, there, server_hostname=name), theirs.wrap_bio(there, back, server_side=True))
    is_done = [False, False]
    failed: ssl.SSLError | None = None
    while not all(is_done):
        for side, object_ in enumerate(sides):
            try:
                object_.do_handshake()
                is_done[side] = True
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                if side == 0:
                    raise
                failed = error
                is_done[side] = True
    if failed:
        sides[0].read()  # what the server says of it
        raise AssertionError("the server said nothing")
    certificate: Any = sides[1].getpeercert() or {}
    return dict(pair for part in certificate.get("subject", ()) for pair in part).get("commonName", "")


def pem(path: Path) -> Store:
    return Store(type="PEM", location=str(path))


def test_a_server_whose_authority_is_trusted(authority: Authority, server: Identity) -> None:
    certificate = authority.certificate
    for store in (pem(certificate), Store(location=str(certificate)), Store(certificates=certificate.read_text())):
        assert shaken(tls_context(Tls(truststore=store)), server) == ""


def test_our_certificate_in_pem(authority: Authority, server: Identity, client: Identity) -> None:
    trust = pem(authority.certificate)
    for own in (
        pem(client.plain_keystore),
        Store(location=str(client.keystore), password=STORE_PASSWORD),
        Store(location=str(client.keystore), key_password=STORE_PASSWORD, password=Secret("another")),
        Store(type="PEM", location=str(client.certificate), key_location=str(client.key)),
        Store(certificates=client.certificate.read_text(), key=Secret(client.key.read_text())),
        Store(
            certificates=client.certificate.read_text(),
            key=Secret(client.encrypted_key.read_text()),
            key_password=STORE_PASSWORD,
        ),
    ):
        assert shaken(tls_context(Tls(truststore=trust, keystore=own)), server, authority.certificate) == "alice"


def test_our_certificate_in_javas_stores(
    authority: Authority,
    server: Identity,
    client: Identity,
    to_jks: Callable[[Path], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # The PKCS12 store holds the authority beside the key, so it trusts, too.
    trust = Store(location=str(client.pkcs12), password=STORE_PASSWORD)
    own = Store(location=str(to_jks(client.pkcs12)), password=STORE_PASSWORD)
    assert shaken(tls_context(Tls(truststore=trust, keystore=own)), server, authority.certificate) == "alice"
    assert list(tmp_path.iterdir()) == []  # no copy of a key stays


@pytest.mark.parametrize(
    ("part", "store", "complaint"),
    [
        ("truststore", Store(location="alice.p12", password=Secret("wrong-canary")), "the store's password is wrong"),
        ("truststore", Store(location="alice.p12"), "a PKCS12 or JKS store needs its password"),
        ("truststore", Store(location="rubbish", password=Secret("wrong-canary")), "Unrecognized keystore format"),
        ("truststore", Store(type="PEM", location="alice.p12"), "holds no certificate"),
        ("truststore", Store(location="none"), "none cannot be read: No such file or directory"),
        (
            "truststore",
            Store(type="PEM", certificates="-----BEGIN CERTIFICATE-----\né\n-----END CERTIFICATE-----"),
            "holds a certificate that cannot be read",
        ),
        ("keystore", Store(location="alice.p12", password=Secret("wrong-canary")), "the store's password is wrong"),
        ("keystore", Store(type="PEM", location="alice.crt"), "has no private key: is it the truststore?"),
        ("keystore", Store(location="alice.sealed.pem"), "the key's password is wrong or missing"),
        ("keystore", Store(location="alice.sealed.pem", key_password=Secret("wrong-canary")), "is wrong or missing"),
        ("keystore", Store(type="PEM", location="alice.crt", key_location="server.key"), "the key is another's"),
    ],
)
def test_a_store_that_cannot_be_used(
    authority: Authority, client: Identity, server: Identity, part: str, store: Store, complaint: str
) -> None:
    (authority.folder / "rubbish").write_text("rubbish")
    places = {name: getattr(store, name) for name in ("location", "key_location")}
    store = msgspec.structs.replace(
        store, **{name: place and str(authority.folder / place) for name, place in places.items()}
    )
    with pytest.raises(SecurityError) as error:
        tls_context(msgspec.structs.replace(Tls(), **{part: store}))
    assert complaint in str(error.value)
    assert str(error.value).isprintable()
    assert "canary" not in str(error.value)


def test_without_keytool_or_openssl_it_says_what_is_missing(client: Identity, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(location=str(client.pkcs12), password=STORE_PASSWORD)
    for name in ("KDRILL_JAVA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(SecurityError, match="keytool, which is not on PATH; or give it as PEM"):
        tls_context(Tls(truststore=store))
    with pytest.raises(SecurityError, match="openssl, which is not installed; or give it as PEM"):
        tls_context(Tls(keystore=store))


def refusal(tls: Tls, identity: Identity, trusted: Path | None = None, name: str = "localhost") -> str:
    with pytest.raises(ssl.SSLError) as error:
        shaken(tls_context(tls), identity, trusted, name)
    said = tls_refusal(error.value, "b1:9093")
    assert said.startswith("b1:9093: ")
    assert is_refused_for_good(error.value)
    return said


def test_why_a_handshake_comes_to_nothing(
    authority: Authority, server: Identity, client: Identity, tmp_path: Path
) -> None:
    us = Tls(truststore=pem(authority.certificate))
    stranger = Authority(tmp_path, "stranger")
    strangers = Tls(truststore=us.truststore, keystore=pem(stranger.issue("mallory").plain_keystore))
    assert "is not trusted (" in refusal(Tls(truststore=pem(stranger.certificate)), server)
    assert "is not trusted (" in refusal(Tls(), server)
    assert "is for other names (" in refusal(us, server, name="b1")
    assert "is not valid any more (" in refusal(us, authority.issue("old", "localhost", expired=True))
    assert "wants a certificate of ours" in refusal(us, server, authority.certificate)
    assert "does not trust the authority of our certificate" in refusal(strangers, server, authority.certificate)


def test_the_name_is_not_checked_where_that_is_asked_for(authority: Authority, server: Identity) -> None:
    us = Tls(truststore=pem(authority.certificate), check_hostname=False)
    assert shaken(tls_context(us), server, name="b1") == ""


def test_versions_that_are_not_wanted_are_not_spoken(authority: Authority) -> None:
    context = tls_context(Tls(truststore=pem(authority.certificate), protocols=("TLSv1.2",)))
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)


def test_what_is_not_about_tls() -> None:
    assert tls_refusal(ConnectionRefusedError(111, "Connection refused"), "b1:9093") == ""
    assert not is_refused_for_good(ConnectionResetError())
    assert is_tls_alert(b"\x15\x03\x03\x00")
    assert not is_tls_alert(b"\x00\x00\x00\x14")
