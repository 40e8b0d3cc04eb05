"""What doing an action would take, laid out before anything is done: shown, confirmed, checked again, carried out."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.cluster.records import Record

Operation = Literal["create", "set", "delete", "check"]
"""A `check` writes nothing: it says of a znode that it must not have changed."""


class ZnodeWrite(msgspec.Struct, frozen=True, tag=True):
    """One write to ZooKeeper; those that follow each other in a proposal are done together or not at all.

    `version` is the znode's version it was made up for; None only where it is created. To the name of a `sequential`
    one ZooKeeper adds ten digits.
    """

    operation: Operation
    path: str
    before: bytes | None = None
    after: bytes | None = None
    version: int | None = None
    sequential: bool = False


class ApiCall(msgspec.Struct, frozen=True, tag=True):
    """One request of Kafka's Admin API: its name as Kafka has it, and its fields as plain JSON values.

    `expects` are facts, name → value, that must still hold when it is sent: brokers keep no versions to fence by.
    """

    api: str
    fields: Mapping[str, object]
    expects: Mapping[str, object] = {}


Step = ZnodeWrite | ApiCall


class Proposal(msgspec.Struct, frozen=True):
    """`changes` are lines before → after for the operator; `type_to_confirm` has to be typed, empty for a plain yes.

    `rollback` says what undoes it, one line, empty where nothing can. `leads_to` are facts that the cluster will tell
    once it is done, as far as it matters to what the death of a broker does; empty where nothing of it changes.
    """

    title: str
    steps: tuple[Step, ...]
    changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    type_to_confirm: str = ""
    rollback: str = ""
    leads_to: tuple[Record, ...] = ()


class ActionRefused(Exception):  # noqa: N818 - reads as a fact
    """It cannot or must not be done; one line that names the reason and the way out."""
