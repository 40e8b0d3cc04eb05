"""A connection to brokers for administering them, and Kafka's errors as one line. kafka-python is used here only."""

import logging
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

from model.actions.proposal import ActionRefused
from model.hosts.acting.writer import UnansweredError

CLIENT_ID = "kdrill"
CONNECT_MS = 15_000
ANSWER_MS = 30_000
UNTOLD = -2
"""Where kafka-python says in words only what was refused."""
_ERROR = re.compile(r"^\[Error \d+\] \w+: ")


def library() -> Any:
    """kafka-python. It takes half a second to load, which only those pay for who ask brokers."""
    for part in ("admin", "errors", "structs"):
        import_module(f"kafka.{part}")
    return import_module("kafka")


def admin_client(bootstrap: str, options: Mapping[str, Any]) -> Any:
    """Connected; `options` are kafka-python's for the login. Raises ActionRefused where no broker answers.

    Versions: Kafka 0.11 and later have this API.
    """
    logging.getLogger("kafka").addHandler(logging.NullHandler())  # what went wrong is told once, by us
    kafka = library()
    try:
        return kafka.admin.KafkaAdminClient(
            bootstrap_servers=[each.strip() for each in bootstrap.split(",")],
            client_id=CLIENT_ID,
            bootstrap_timeout_ms=CONNECT_MS,
            request_timeout_ms=ANSWER_MS,
            **options,
        )
    except (kafka.errors.KafkaError, OSError, ValueError) as error:
        raise ActionRefused(f"kafka://{bootstrap}: {line(error)}") from None


def asked(call: Any, *arguments: Any, **named: Any) -> Any:
    """What a method of the client answers. Raises ActionRefused for what it cannot ask, else UnansweredError."""
    errors = library().errors
    try:
        return call(*arguments, **named)
    except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError) as error:
        raise ActionRefused(f"these brokers are too old for it: {line(error)}; name ZooKeeper as SOURCE") from None
    except (errors.RequestTimedOutError, errors.NetworkExceptionError) as error:
        raise UnansweredError(line(error)) from None
    except errors.BrokerResponseError as error:
        raise ActionRefused(refusal(error.errno)) from None
    except (errors.KafkaError, OSError, RuntimeError) as error:
        raise UnansweredError(line(error)) from None


class _AllBrokers(str):
    """The empty name, by which all brokers are meant; as a number it is the broker that kafka-python is to ask."""

    __slots__ = ("_asked",)

    def __new__(cls, asked_broker: int) -> Self:
        made = super().__new__(cls)
        made._asked = asked_broker
        return made

    def __int__(self) -> int:
        return self._asked


def config_resource(client: Any, kind: str, name: str, wishes: Mapping[str, object] | None = None) -> Any:
    """`topic` or `broker`, and its name; empty for all brokers."""
    whose = name
    if kind == "broker" and not name:
        whose = _AllBrokers(asked(client.describe_cluster)["brokers"][0]["broker_id"])
    return library().admin.ConfigResource(kind, whose, wishes)


def refusal(code: int, message: str | None = None) -> str:
    """Kafka's name of an error, and what the broker said of it; of an `UNTOLD` one only that."""
    if code == UNTOLD:
        return _ERROR.sub("", message or "refused")
    error = library().errors.for_code(code)
    said = (message or error.description).rstrip(".")
    return f"{said} ({error.message})" if said else str(error.message)


def line(error: BaseException) -> str:
    """An exception as one line, without the requests that kafka-python quotes."""
    said = str(error).partition("\n")[0]
    return _ERROR.sub("", said)[:200] or type(error).__name__
