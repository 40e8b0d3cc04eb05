"""Whom to trust and whom to be → an `ssl.SSLContext` for clients, kafka-python's options; and why TLS came to nothing.

Connects nowhere. A key without a file of its own is in one only while OpenSSL reads it: 0600, and deleted at once.

A PKCS12 or JKS store → PEM text, by Java's keytool and by openssl. The passwords travel in their environment.

keytool reads every store that Kafka can read, and never gives out a key; openssl does, from the copy that keytool
made. The key stays encrypted, under a password of the moment.

Why a connection that should be TLS, or should not, came to nothing is one line for the operator, with the way out.
"""

import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from model.cluster.whole_file import MOST_SETTINGS, read_text
from model.hosts.client_security import TLS_VERSIONS, Hidden, KafkaSecurity, Secret, SecurityError, Store, Tls

_TIMEOUT_S = 60
_PASSWORD = "KDRILL_STORE_PASSWORD"
_COPY_PASSWORD = "KDRILL_COPY_PASSWORD"
_FROM = ("-srcstorepass:env", _PASSWORD)
_TO = ("-deststoretype", "PKCS12", "-deststorepass:env", _COPY_PASSWORD)


class KeyPem(NamedTuple):
    """PEM text of certificates and key, and what the key is encrypted with."""

    text: Secret
    password: Secret


def trusted_pem(store: Store) -> str:
    """The certificates of a truststore as PEM. Raises SecurityError."""
    command = ["-list", "-rfc", "-keystore", store.location, "-storepass:env", _PASSWORD]
    return _keytool(store, command, {})


def own_pem(store: Store) -> KeyPem:
    """The certificates and the key of a keystore. Raises SecurityError."""
    openssl = openssl_program()
    if openssl is None:
        raise SecurityError(f"{store.location}: its key is read by openssl, which is not installed; or give it as PEM")
    environment = {_COPY_PASSWORD: Hidden(secrets.token_hex(16))}
    with tempfile.TemporaryDirectory(prefix="kdrill-keys-") as folder:  # which only we may read
        copy = str(Path(folder) / "copy.p12")
        into = ["-importkeystore", "-noprompt", "-srckeystore", store.location, "-destkeystore", copy, *_FROM, *_TO]
        _keytool(store, into, environment)
        give = ["pkcs12", "-in", copy, "-passin", f"env:{_COPY_PASSWORD}", "-passout", f"env:{_COPY_PASSWORD}"]
        return KeyPem(Secret(_run([openssl, *give], environment, store)), Secret(environment[_COPY_PASSWORD]))


def _keytool(store: Store, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    if not store.password:
        raise SecurityError(f"{store.location}: a PKCS12 or JKS store needs its password")
    if Path(store.location).exists() and Path(store.location).stat().st_size > MOST_SETTINGS:
        raise SecurityError(f"{store.location}: no store has more than {MOST_SETTINGS:,} bytes")
    keytool = keytool_program()
    if keytool is None:
        raise SecurityError(f"{store.location}: is read by Java's keytool, which is not on PATH; or give it as PEM")
    return _run([keytool, *arguments], {**environment, _PASSWORD: Hidden(store.password.text)}, store)


def openssl_program() -> str | None:
    """On PATH; None where there is none."""
    return shutil.which("openssl")


def keytool_program() -> str | None:
    """Beside the Java that kdrill runs, or on PATH; None where there is none."""
    java = os.environ.get("KDRILL_JAVA", "")
    homes = [Path(java).parent] if java else [Path(home) / "bin" for home in (os.environ.get("JAVA_HOME"),) if home]
    return shutil.which("keytool", path=os.pathsep.join(map(str, homes))) or shutil.which("keytool")


def _run(command: Sequence[str], environment: Mapping[str, str], store: Store) -> str:
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SecurityError(f"{store.location}: {Path(command[0]).name} failed: {type(error).__name__}") from None
    if done.returncode != 0:
        raise SecurityError(f"{store.location}: {_reason(done.stdout + done.stderr)}")
    return done.stdout


def _reason(said: str) -> str:
    """What keytool or openssl complain of, in a line."""
    lowered = said.lower()
    if "password was incorrect" in lowered or "password verification failed" in lowered:
        return "the store's password is wrong"
    if "cannot recover key" in lowered or "get key failed" in lowered:
        return "the key has a password other than the store's; give it the same, or give the key as PEM"
    return " ".join(said.split())[:200] or "it cannot be read"


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


_IS_PLAIN = "the server does not speak TLS on this port; check the port, or ask for no TLS"
PLAIN_ON_TLS = (
    "the server speaks TLS here, and we do not; give --command-config a file with security.protocol=SSL or SASL_SSL, "
    "for ZooKeeper zookeeper.ssl.client.enable=true"
)

_ALERTS = {
    "certificate_required": "the server wants a certificate of ours; give one as ssl.keystore.location",
    "bad_certificate": "the server does not take our certificate; check ssl.keystore, or give one",
    "unknown_ca": "the server does not trust the authority of our certificate; check ssl.keystore",
    "certificate_unknown": "the server does not take our certificate; check ssl.keystore",
    "certificate_expired": "the server says that our certificate has expired; renew ssl.keystore",
    "wrong_version_number": _IS_PLAIN,
    "record_layer_failure": _IS_PLAIN,
    "protocol_version": "the server speaks no version of TLS that we do; check ssl.enabled.protocols",
    "unsupported_protocol": "the server speaks no version of TLS that we do; check ssl.enabled.protocols",
    "handshake_failure": "the server and we have no cipher in common, or it wants a certificate of ours (ssl.keystore)",
}
_ENDED = (ssl.SSLEOFError, ConnectionResetError, BrokenPipeError)
HOSTNAME_MISMATCH = (62, 63, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH, …EMAIL… and …IP_ADDRESS_MISMATCH."""
EXPIRED = 10


def tls_refusal(error: OSError, address: str, *, in_handshake: bool = False) -> str:
    """What is wrong between `address` and us; empty where the error is not about TLS."""
    why = why_tls_failed(error, in_handshake=in_handshake)
    return why and f"{address}: {why}"


def is_refused_for_good(error: OSError) -> bool:
    """Whether another try would end the same way: a certificate was not taken, by us or by them."""
    return isinstance(error, ssl.SSLCertVerificationError) or any(
        sign in _refusal_reason(error)
        for sign in ("certificate", "unknown_ca", "unsupported_protocol", "protocol_version")
    )


def is_tls_alert(first: bytes) -> bool:
    """Whether an answer to a plain request begins as a TLS alert does: the server wants TLS on this port."""
    return first[:2] == b"\x15\x03"


def why_tls_failed(error: OSError, *, in_handshake: bool) -> str:
    """As `tls_refusal`, without the address."""
    if in_handshake and isinstance(error, _ENDED):
        return "the server ended the TLS handshake: is this a plain port? Check it, or ask for no TLS"
    if isinstance(error, ssl.SSLCertVerificationError):
        return _unverified(error)
    if not isinstance(error, ssl.SSLError):
        return ""
    reason = _refusal_reason(error)
    known = next((said for sign, said in _ALERTS.items() if sign in reason), "")
    return known or f"TLS failed: {reason.replace('_', ' ') or error}"


def _unverified(error: ssl.SSLCertVerificationError) -> str:
    said = error.verify_message.rstrip(".")
    if error.verify_code in HOSTNAME_MISMATCH:
        return f"the server's certificate is for other names ({said}); connect by a name that is in it"
    if error.verify_code == EXPIRED:
        return f"the server's certificate is not valid any more ({said})"
    return f"the server's certificate is not trusted ({said}); give its authority as ssl.truststore.location"


def _refusal_reason(error: OSError) -> str:
    return str(getattr(error, "reason", "") or "").lower()
