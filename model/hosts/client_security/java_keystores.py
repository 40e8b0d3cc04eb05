"""A PKCS12 or JKS store → PEM text, by Java's keytool and by openssl. The passwords travel in their environment.

keytool reads every store that Kafka can read, and never gives out a key; openssl does, from the copy that keytool
made. The key stays encrypted, under a password of the moment.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from model.cluster.whole_file import MOST_SETTINGS
from model.hosts.client_security.values import Hidden, Secret, SecurityError, Store

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
