"""How to log in to brokers → what kafka-python's clients take. Starts no client."""

from typing import Any

from model.hosts.client_security.tls_context import tls_context
from model.hosts.client_security.values import Hidden, KafkaSecurity


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
