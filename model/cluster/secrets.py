"""Which settings hold secrets, and what stands in their place: the one rule for screens, snapshots and logs.

It hides too much rather than too little. It knows settings by name only and looks into no payload.
"""

from collections.abc import Mapping

HIDDEN = "[hidden]"
"""Stands for a secret wherever it would be shown, logged or saved."""

_HINTS = (
    "password", "passwd", "passphrase", "secret", "credential", "jaas", "scram-", "salt=", "hmac", "master.key",
    "keystore.key", "certificate.chain", "truststore.certificates", "private", "api.key", "apikey", "auth.user.info",
    "token", "pwd", "access.key", "accesskey", "signing.key", "encryption.key",
)  # fmt: skip
_NO_SECRETS = frozenset({"tokenId", "tokenRequester"})
_USER_QUOTAS = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"})


def is_sensitive_name(name: str) -> bool:
    """Whether a setting or JSON key of this name may hold a secret.

    Kafka's settings of type PASSWORD (3.9 `SslConfigs`, `SaslConfigs`, `PasswordEncoderConfigs`), and whatever looks
    like one: plug-ins bring names of their own.
    """
    lowered = name.lower()
    return name not in _NO_SECRETS and any(hint in lowered for hint in _HINTS)


def is_sensitive(entity: str, key: str) -> bool:
    """Whether this setting of this entity may hold a secret; entity as in Kafka's entity path, `users/u/clients/c`.

    A user has quotas and credentials only, so whatever is no quota is hidden.
    """
    return key not in _USER_QUOTAS if entity.startswith("users/") else is_sensitive_name(key)


def redacted(entity: str, config: Mapping[str, str]) -> dict[str, str]:
    """The settings of an entity, secret values replaced."""
    return {key: HIDDEN if is_sensitive(entity, key) else value for key, value in config.items()}
