"""A certificate authority of the tests' own, and what it issues: keys made on the spot, as PEM and PKCS12 files."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, NoEncryption, pkcs12

PASSWORD = "store-canary-1"
"""Of every PKCS12 store and every key that is encrypted, if nobody asks for another."""

_DAY = datetime.timedelta(days=1)


class Identity(NamedTuple):
    """One certificate and its key, in several files."""

    certificate: Path
    key: Path
    """PKCS #8, not encrypted."""
    encrypted_key: Path
    keystore: Path
    """PEM: the encrypted key, then the certificates."""
    plain_keystore: Path
    """PEM: the key not encrypted, then the certificates."""
    pkcs12: Path


class Authority:
    """Signs for servers and clients; its own is `certificate`."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key(), 0)
        self._certificate = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(
            self._key, hashes.SHA256()
        )
        self.certificate = self._write(f"{name}.pem", self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *names: str, expired: bool = False, password: str = PASSWORD) -> Identity:
        """A certificate for `names` (host names and addresses)."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key.public_key(), 30 if expired else 0)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([*map(_general_name, names)]), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pem = b"".join(c.public_bytes(serialization.Encoding.PEM) for c in (certificate, self._certificate))
        secret = BestAvailableEncryption(password.encode())
        bare, sealed = _pem(key, NoEncryption()), _pem(key, secret)
        store = pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, [self._certificate], secret)
        return Identity(
            certificate=self._write(f"{name}.crt", pem),
            key=self._write(f"{name}.key", bare),
            encrypted_key=self._write(f"{name}.sealed.key", sealed),
            keystore=self._write(f"{name}.sealed.pem", sealed + pem),
            plain_keystore=self._write(f"{name}.pem", bare + pem),
            pkcs12=self._write(f"{name}.p12", store),
        )

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, ended_days_ago: int
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC) - ended_days_ago * _DAY
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAY)
        )

    def _write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.touch(0o600)
        path.write_bytes(data)
        return path


def _pem(key: ec.EllipticCurvePrivateKey, secret: serialization.KeySerializationEncryption) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
