"""Whom to trust and whom to be → an `ssl.SSLContext` for clients, and kafka-python's options. Connects nowhere.

A key without a file of its own is in one only while OpenSSL reads it: 0600, and deleted at once.
"""

import ssl
import tempfile
from typing import Any

from model.cluster.whole_file import read_text
from model.hosts.client_security.java_keystores import KeyPem, own_pem, trusted_pem
from model.hosts.client_security.values import TLS_VERSIONS, Hidden, KafkaSecurity, Secret, SecurityError, Store, Tls

_PEM = "-----BEGIN "
_KEY = "PRIVATE KEY-----"
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Raises SecurityError. May run keytool, which takes a second."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    spoken = [_VERSIONS[name] for name in tls.protocols or TLS_VERSIONS]
    context.minimum_version, context.maximum_version = min(spoken), max(spoken)
    context.check_hostname = tls.check_hostname
    if tls.truststore:
        _trust(context, tls.truststore)
    else:
        context.load_default_certs()
    if tls.keystore:
        _be(context, tls.keystore)
    return context


def _trust(context: ssl.SSLContext, store: Store) -> None:
    text = store.certificates or (_text(store.location) if _is_pem(store) else trusted_pem(store))
    if _PEM not in text:
        raise SecurityError(f"{_name(store)} holds no certificate")
    try:
        # Blocks of their own lines: a certificate may follow another without an end of line in between.
        context.load_verify_locations(cadata="\n".join(_blocks(text, "CERTIFICATE")))
    except (ssl.SSLError, ValueError, TypeError) as error:  # the latter: letters that are not ASCII
        raise SecurityError(
            f"{_name(store)} holds a certificate that cannot be read: {_openssl_message(error)}"
        ) from None


def _be(context: ssl.SSLContext, store: Store) -> None:
    pem = _own_text(store) if _is_pem(store) else own_pem(store)
    if _KEY not in pem.text.text:
        raise SecurityError(f"{_name(store)} has no private key: is it the truststore?")
    with tempfile.NamedTemporaryFile("w", prefix="kdrill-key-", suffix=".pem") as file:  # 0600
        file.write(pem.text.text)
        file.flush()
        try:
            # As a function: without it OpenSSL would ask on the terminal for a password that is missing.
            context.load_cert_chain(file.name, password=lambda: pem.password.text)
        except (ssl.SSLError, ValueError) as error:
            raise SecurityError(f"{_name(store)} is no certificate with its key: {_openssl_message(error)}") from None


def _own_text(store: Store) -> KeyPem:
    if store.location:
        texts = [_text(store.location), *([_text(store.key_location)] if store.key_location else [])]
    else:
        texts = [store.key.text, store.certificates]
    return KeyPem(Secret("\n".join(texts)), store.key_password or store.password)


def _is_pem(store: Store) -> bool:
    if store.type or not store.location:
        return store.type == "PEM" or not store.location
    return _PEM in _text(store.location)


def _text(path: str) -> str:
    try:
        return read_text(path, "iso-8859-1")
    except OSError as error:
        raise SecurityError(f"{path} cannot be read: {error.strerror or error}") from None


def _blocks(text: str, name: str) -> list[str]:
    end = f"-----END {name}-----"
    return [_PEM + name + part.partition(end)[0] + end for part in text.split(_PEM + name)[1:]]


def _name(store: Store) -> str:
    return store.location or "the PEM text in the properties"


def _openssl_message(error: Exception) -> str:
    """OpenSSL's words without the place in its source."""
    words = str(getattr(error, "reason", "") or error).lower().replace("_", " ")
    known = {"pem lib": "the key's password is wrong or missing", "key values mismatch": "the key is another's"}
    return next((said for sign, said in known.items() if sign in words), words.partition(" (")[0])


def kafka_options(security: KafkaSecurity | None) -> dict[str, Any]:
    """Keyword arguments of `KafkaAdminClient` of kafka-python 3; none for None, which is PLAINTEXT.

    Raises SecurityError. May run keytool, which takes a second.
    """
    if security is None:
        return {}
    options: dict[str, Any] = {"security_protocol": security.protocol}
    if security.tls:
        options["ssl_context"] = tls_context(security.tls)
    if security.sasl:
        options["sasl_mechanism"] = security.sasl.mechanism
        options["sasl_plain_username"] = security.sasl.username
        options["sasl_plain_password"] = Hidden(security.sasl.password.text)
    return options
