"""Requests of a proposal sent to brokers, each after its facts were asked once more: brokers keep no versions."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from model.actions.proposal import ActionRefused, ApiCall, Step
from model.cluster.ids import TopicPartition
from model.hosts.acting.admin_calls import send
from model.hosts.acting.admin_client import UnansweredError, admin_client
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.writer import Outcome


class AdminWriter:
    """One client for the requests of one action; see `Writer`. Connects with the first question."""

    def __init__(self, bootstrap: str, options: Mapping[str, Any] | None = None) -> None:
        """`bootstrap` is `host:port[,…]`, `options` kafka-python's for the login."""
        self._bootstrap = bootstrap
        self._options = options or {}

    @cached_property
    def client(self) -> Any:
        """kafka-python's, connected. Raises ActionRefused where no broker answers."""
        return admin_client(self._bootstrap, self._options)

    @property
    def reads(self) -> AdminReads:
        """What the same connection can be asked."""
        return AdminReads(self.client)

    def check(self, steps: Sequence[Step]) -> str:
        """What each request relies on, as the brokers see it now."""
        try:
            expects = {fact: value for call in _calls(steps) for fact, value in call.expects.items()}
            replicas = _replicas(self.reads, [fact for fact in expects if " " not in fact])
            for fact, expected in expects.items():
                now = replicas[fact] if fact in replicas else _fact(self.reads, fact)
                if now != expected:
                    return f"{fact} is {_said(now)} by now and was {_said(expected)}: nothing was sent; look again"
        except (ActionRefused, UnansweredError) as error:
            return str(error)
        return ""

    def carry_out(self, steps: Sequence[Step]) -> Outcome:
        """One request after the other, up to the first that is refused or not answered."""
        for done, call in enumerate(_calls(steps)):
            try:
                refused = send(self.client, call.api, call.fields)
            except ActionRefused as error:
                return Outcome("refused", str(error), done)
            except UnansweredError as error:
                return Outcome("unknown", f"{call.api} was sent and not answered ({error}): look again", done)
            if refused:
                more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
                return Outcome("refused", f"{refused[0]}{more}", done)
        return Outcome("done", done=len(steps))

    def close(self) -> None:
        """Ends the connections."""
        if "client" in self.__dict__:
            self.__dict__.pop("client").close()


def _replicas(reads: AdminReads, partitions: Sequence[str]) -> dict[str, list[int] | None]:
    """What is true now of `orders-0` and others, asked at once."""
    named = {text: _partition(text) for text in partitions}
    held = reads.partitions(sorted({partition.topic for partition in named.values()}))
    return {text: list(held[each].replicas) if each in held else None for text, each in named.items()}


def _fact(reads: AdminReads, fact: str) -> object:
    """What is true now of `partitions T`, `topic-id T`, `members G`, `offset G P`, `config topic NAME KEY`."""
    kind, _, subject = fact.partition(" ")
    if kind in ("partitions", "topic-id"):
        found = reads.topic_ids([subject]).get(subject)
        return None if found is None else found[kind == "partitions"]
    if kind == "members":
        return reads.members(subject)
    if kind == "offset":
        group, _, read = subject.rpartition(" ")
        return reads.offsets(group).get(_partition(read))
    of, name, key = subject.split(" ", 2)
    return reads.configs(of, [name])[name].get(key)


def _partition(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


def _said(value: object) -> str:
    return "not there" if value is None else str(value)


def _calls(steps: Sequence[Step]) -> list[ApiCall]:
    return [step for step in steps if isinstance(step, ApiCall)]
