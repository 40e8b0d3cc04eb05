"""Who leads the quorum of a KRaft cluster: DescribeQuorum, asked of everybody who may know, within one timeout.

Metadata is no answer: there KRaft names any live broker as the controller. Brokers pass DescribeQuorum on to the active
controller, so one broker that answers is enough, and as a rule only one is asked. Where it does not answer soon, all
brokers and all voters are asked side by side. Voters that do not lead answer, too: so those are found that live. Their
listeners may be closed to us; then only what brokers say counts.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from functools import partial

import msgspec

from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum, QuorumReplica
from model.hosts.kafka_client import descriptions
from model.hosts.kafka_client.kafka_client import HEAD_START_S, ReadingClient, metadata_request
from model.hosts.wire.names import WireError


class QuorumSurvey:
    """For one event loop, one look at a time. Remembers where voters listen, and what was told last."""

    def __init__(self, client: ReadingClient, head_start_s: float = HEAD_START_S) -> None:
        """`head_start_s`: so long the first one is waited for alone."""
        self._client = client
        self._head_start_s = head_start_s
        self._last = Quorum(NO_QUORUM_LEADER, -1)
        self._voters: dict[int, frozenset[descriptions.Address]] = {}
        self._unnamed: set[descriptions.Address] = set()
        """Where a voter listens whose id is not known."""
        self._configured: set[int] = set()
        """Brokers whose settings were looked through for voters."""

    @property
    def controllers(self) -> tuple[descriptions.Address, ...]:
        """Where voters listen, as far as brokers tell."""
        return tuple(sorted(self._unnamed.union(*self._voters.values())))

    async def look(self) -> Quorum:
        """The quorum as it is; without a leader where nobody knows one. Raises NotAllowedError."""
        look = _Look(self._client.timeout_s)
        brokers, answered = self._client.metadata.brokers, self._client.answered
        first = next((broker for broker, address in brokers.items() if address == answered), None)
        if answered is not None:
            look.heard.add(answered)
            look.ask(answered, self._broker(look, first, answered))
        try:
            await look.answered_within(self._head_start_s)
            if not look.is_over:
                for broker, address in brokers.items():
                    look.ask(address, self._broker(look, broker, address))
                self._ask_voters(look)
                await look.answered_within(self._client.timeout_s)
        finally:
            for address in await look.end():
                await self._client.hang_up(address)
        self._last = self._concluded(look)
        return self._last

    def _concluded(self, look: "_Look") -> Quorum:
        if look.told:
            return max(look.told, key=lambda each: each.leader_epoch)
        if look.refused is not None:
            raise look.refused
        brokers = self._client.metadata.brokers
        known = self._last.voters or tuple(QuorumReplica(voter) for voter in sorted(self._voters))
        own = {each.id: self._voters.get(each.id, frozenset()) | {brokers.get(each.id, ("", 0))} for each in known}
        return msgspec.structs.replace(
            self._last,
            leader=NO_QUORUM_LEADER,
            voters=known,
            silent=tuple(voter for voter, places in own.items() if not places & look.heard),
            unconfirmed=tuple(sorted(broker for broker, address in brokers.items() if address not in look.heard)),
        )

    async def _broker(self, look: "_Look", broker: int | None, address: descriptions.Address) -> None:
        """Asked for what it has of its own first: the rest it passes on, and it does not take up two things at once."""
        if broker is not None and broker not in self._configured and not self._voters:
            response = await self._client.ask_at(
                address, lambda to: descriptions.describe_configs(to, descriptions.BROKER_RESOURCE, [str(broker)])
            )
            look.heard.add(address)
            self._configured.add(broker)
            configs = (config for _, _, found in descriptions.described_configs(response) for config in found.values())
            self._learn(voter for config in configs for voter in descriptions.voters_configured(config))
            if look.is_wide:
                self._ask_voters(look)
        elif address not in look.heard:
            await self._client.ask_at(address, partial(metadata_request, topics=()))
            look.heard.add(address)
        await self._quorum(look, address, passed_on=True)

    async def _voter(self, look: "_Look", address: descriptions.Address) -> None:
        """Asked where it listens itself; whoever cannot be told by an id tells of all."""
        await self._quorum(look, address, passed_on=False)
        if address in self._unnamed and not self._last.voters:
            named = descriptions.described_controllers(
                await self._client.ask_at(address, descriptions.describe_controllers)
            )
            self._voters.update(named)
            self._ask_voters(look)

    async def _quorum(self, look: "_Look", address: descriptions.Address, *, passed_on: bool) -> None:
        response = await self._client.ask_at(address, descriptions.describe_quorum)
        look.heard.add(address)
        try:
            told = descriptions.described_quorum(response)
        except descriptions.NotAllowedError as error:
            look.refused = error if passed_on else look.refused
        except WireError:
            return  # it lives, and does not lead
        else:
            self._voters.update(descriptions.voters_listening(response))
            look.told.append(told)

    def _learn(self, voters: Iterator[tuple[int | None, descriptions.Address]]) -> None:
        for voter, address in voters:
            if voter is None:
                self._unnamed.add(address)
            else:
                self._voters[voter] = self._voters.get(voter, frozenset()) | {address}

    def _ask_voters(self, look: "_Look") -> None:
        look.is_wide = True
        for address in self._unnamed.union(*self._voters.values()):
            look.ask(address, self._voter(look, address))


class _Look:
    """What came of one look so far, and who is still being asked."""

    def __init__(self, timeout_s: float) -> None:
        self.heard: set[descriptions.Address] = set()
        """Who answered anything."""
        self.told: list[Quorum] = []
        self.refused: descriptions.NotAllowedError | None = None
        self.is_wide = False
        """Whether everybody is asked."""
        self._end_s = time.monotonic() + timeout_s
        self._asked: dict[descriptions.Address, asyncio.Task[None]] = {}
        self._news = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether a leader is known that a majority follows, or may not be known."""
        return self.refused is not None or any(each.is_led for each in self.told)

    def ask(self, address: descriptions.Address, question: Coroutine[None, None, None]) -> None:
        if address in self._asked:
            question.close()
            return
        self._asked[address] = asyncio.create_task(self._ask(question))
        self._asked[address].add_done_callback(lambda _: self._news.set())

    async def answered_within(self, most_s: float) -> None:
        """Waits until it is over, everybody has answered, or it has taken so long."""
        end_s = min(self._end_s, time.monotonic() + most_s)
        while not self.is_over and not all(task.done() for task in self._asked.values()):
            self._news.clear()
            try:
                async with asyncio.timeout(max(0.0, end_s - time.monotonic())):
                    await self._news.wait()
            except TimeoutError:
                return

    async def end(self) -> list[descriptions.Address]:
        """Asks no more; those who have not answered."""
        left = [address for address, task in self._asked.items() if not task.done()]
        for address in left:
            self._asked[address].cancel()
        for outcome in await asyncio.gather(*self._asked.values(), return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome  # a defect: what an answer may lack is a WireError
        return left

    @staticmethod
    async def _ask(question: Coroutine[None, None, None]) -> None:
        try:
            await question
        except WireError:
            return  # whoever does not answer is not heard
