"""What belongs to the cluster as a whole: finalized features, blocks of producer ids, delegation tokens that expire.

`/feature` is set up after an election and changed on request; which changes are accepted is decided in `features`.
Blocks of producer ids follow each other without gaps; brokers before 3.0 write the znode themselves, so the version
alone guards it, not the controller epoch. Nor are deletions of tokens fenced; tokens are made elsewhere.

Source: `KafkaController.enableFeatureVersioning`, `disableFeatureVersioning`, `processFeatureUpdates` (3.9), KIP-584;
`processAllocateProducerIds`, `ZkProducerIdManager.getNewProducerIdBlock`, `KafkaZkClient.conditionalUpdatePath` (3.9),
KIP-730 (3.0); `onControllerFailover` ("delete-expired-tokens"), `DelegationTokenManager.expireTokens` and
`removeToken` (1.1 to 3.9).
"""

from collections.abc import Iterable, Iterator, Mapping

from model.cluster.texts import counted, listed
from model.controller import Refusal
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.events_and_commands import AnswerRequest, FeatureOutcome, ProducerIdRange, StartTimer
from model.controller.features import (
    FeatureUpdate,
    features_after_election,
    finalized,
    finalized_levels,
    update_problem,
)
from model.znodes.catalogue import ZnodeKind
from model.znodes.cluster import (
    FinalizedFeatures,
    ProducerIdBlock,
    SupportedVersions,
    decode_broker,
    decode_features,
    decode_producer_id_block,
)
from model.znodes.configs import DelegationToken, TokenChange, decode_token
from model.znodes.paths import FEATURE, PRODUCER_IDS, TOKENS, sequential_path, token_path
from model.znodes.payload import INT64_MAX, UnusablePayloadError
from model.zookeeper import Answer, Code, Create, Delete, GetChildren, GetData, SetData, Write


class SetUpFeatures(Step, frozen=True):
    """Make `/feature` say what it has to after an election, if it does not."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetData(FEATURE),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        version = context.settings.forms.feature_version
        current = _features_in(answers[0])
        missing = answers[0].code is Code.NO_NODE
        if version is None or (current is None and not missing):
            # Kafka would resign and never find a controller. Leave it to an operator.
            return StepOutcome(
                context, why="" if version is None else f"{FEATURE} cannot be read: it is left as it is."
            )
        wanted = features_after_election(current, version, enabled=context.settings.finalizes_features)
        if wanted == current:
            return StepOutcome(context)
        data = wanted.to_bytes()
        return StepOutcome(context, then=(WriteFeatures(Create(FEATURE, data) if missing else SetData(FEATURE, data)),))


class WriteFeatures(Step, frozen=True):
    """Write it, not guarded by the epoch, as Kafka does."""

    write: Write

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(self.write,))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


class UpdateFeatures(Step, frozen=True):
    """UpdateFeatures: read what is finalized, and judge each update."""

    request: int
    updates: tuple[FeatureUpdate, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        if context.settings.forms.feature_version is None:
            return StepOutcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        return StepOutcome(context, ask=(GetData(FEATURE),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        existing = finalized_levels(_features_in(answers[0]))
        by_broker = {broker: _supported(live.registration) for broker, live in context.live.items()}
        supported, all_supported = by_broker.get(context.broker_id, {}), tuple(by_broker.values())
        target = dict(existing)
        outcomes: list[FeatureOutcome] = []
        for update in self.updates:
            problem = update_problem(update, existing.get(update.feature), supported, all_supported)
            if problem is not None:
                outcomes.append(FeatureOutcome(update.feature, problem.error, problem.message))
                continue
            outcomes.append(FeatureOutcome(update.feature))
            if update.deletes:
                target.pop(update.feature, None)
            else:
                target[update.feature] = update.level
        if target == existing:
            return StepOutcome(context, (AnswerRequest(self.request, features=tuple(outcomes)),))
        return StepOutcome(context, then=(WriteUpdates(self.request, tuple(target.items()), tuple(outcomes)),))


class WriteUpdates(Step, frozen=True):
    """Write the features as they shall be, and answer."""

    request: int
    target: tuple[tuple[str, int], ...]
    outcomes: tuple[FeatureOutcome, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        payload = finalized(dict(self.target), context.settings.forms.feature_version or 1)
        return StepOutcome(context, ask=(SetData(FEATURE, payload.to_bytes()),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        done = [outcome.feature for outcome in self.outcomes if outcome.error == "NONE"]
        if answers[0].ok:
            answer = AnswerRequest(self.request, features=self.outcomes)
            return StepOutcome(context, (answer,), why=f"Features finalized anew: {listed(done)}.")
        failed = tuple(
            FeatureOutcome(outcome.feature, "FEATURE_UPDATE_FAILED") if outcome.error == "NONE" else outcome
            for outcome in self.outcomes
        )
        return StepOutcome(context, (AnswerRequest(self.request, features=failed),))


def _features_in(answer: Answer) -> FinalizedFeatures | None:
    try:
        return decode_features(answer.data) if answer.ok else None
    except UnusablePayloadError:
        return None


def _supported(registration: bytes) -> Mapping[str, SupportedVersions]:
    try:
        return decode_broker(registration).features
    except UnusablePayloadError:
        return {}


BLOCK_SIZE = 1000
"""Producer ids in a block."""


def next_block(newest: bytes, broker: int) -> ProducerIdBlock | Refusal:
    """The block for `broker` after the `newest` one, as its znode holds it: empty before the first."""
    if not newest:
        return _block(broker, 0)
    try:
        last = decode_producer_id_block(newest).last_id
    except UnusablePayloadError as reason:
        return Refusal("UNKNOWN_SERVER_ERROR", f"the newest block of producer ids cannot be read: {reason}")
    if last > INT64_MAX - BLOCK_SIZE:
        return Refusal("UNKNOWN_SERVER_ERROR", "all producer ids are given out")
    return _block(broker, last + 1)


def _block(broker: int, first: int) -> ProducerIdBlock:
    return ProducerIdBlock(broker=broker, block_start=str(first), block_end=str(first + BLOCK_SIZE - 1))


class AllocateProducerIds(Step, frozen=True):
    """Read what was given out last. Only a registered broker in its present life gets anything."""

    request: int
    broker: int
    broker_epoch: int

    def begin(self, context: ControllerContext) -> StepOutcome:
        if not context.settings.forms.hands_out_producer_ids:
            return StepOutcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        live = context.live.get(self.broker)
        if live is None:
            return StepOutcome(context, (AnswerRequest(self.request, "BROKER_ID_NOT_REGISTERED"),))
        if live.epoch != self.broker_epoch:
            return StepOutcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
        return StepOutcome(context, ask=(GetData(PRODUCER_IDS),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        newest = answers[0]
        if not newest.ok:
            # Every broker makes this znode when it starts: somebody removed it, and the ids given out are forgotten.
            return self.refuse(context, f"{PRODUCER_IDS} cannot be read")
        block = next_block(newest.data, self.broker)
        if isinstance(block, Refusal):
            return self.refuse(context, block.message)
        return StepOutcome(context, then=(WriteProducerIds(self, block, newest.version),))

    def refuse(self, context: ControllerContext, what: str) -> StepOutcome:
        """The broker gets nothing, and asks again."""
        why = f"Broker {self.broker} gets no producer ids: {what}."
        return StepOutcome(context, (AnswerRequest(self.request, "UNKNOWN_SERVER_ERROR"),), why=why)


class WriteProducerIds(Step, frozen=True):
    """Write the block; begin anew if another was written in between.

    `version` is that of the block before. After a lost connection our own write may have been first: then it counts.
    """

    by: AllocateProducerIds
    block: ProducerIdBlock
    version: int

    def begin(self, context: ControllerContext) -> StepOutcome:
        data = self.block.to_bytes()
        return StepOutcome(context, ask=(SetData(PRODUCER_IDS, data, self.version), GetData(PRODUCER_IDS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        written, now = answers
        ours = now.version == self.version + 1 and now.data == self.block.to_bytes()
        if not written.ok and not ours:
            overtaken = written.code is Code.BAD_VERSION
            unwritten = f"{PRODUCER_IDS} cannot be written"
            return StepOutcome(context, then=(self.by,)) if overtaken else self.by.refuse(context, unwritten)
        first, last = self.block.first_id, self.block.last_id
        answer = AnswerRequest(self.by.request, producer_ids=ProducerIdRange(first, last - first + 1))
        return StepOutcome(context, (answer,), why=f"Broker {self.by.broker} gets producer ids {first} to {last}.")


TOKEN_TIMER = "delete-expired-tokens"


class ExpireTokens(Step, frozen=True):
    """List the tokens, and look again after the interval."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        timer = StartTimer(TOKEN_TIMER, context.settings.delegation_token_expiry_check_interval_ms)
        return StepOutcome(context, (timer,), ask=(GetChildren(TOKENS),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, then=(ReadTokens(answers[0].names),) if answers[0].names else ())


class ReadTokens(Step, frozen=True):
    """Read when each of them ends."""

    ids: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(GetData(token_path(token)) for token in self.ids))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        now_ms = context.now_ms
        over = tuple(
            token.token_id
            for token in _tokens(answers)
            if min(token.max_timestamp_ms, token.expiry_timestamp_ms) < now_ms
        )
        why = f"The time of {counted(len(over), 'delegation token')} is over." if over else ""
        return StepOutcome(context, then=(DeleteTokens(over),) if over else (), why=why)


class DeleteTokens(Step, frozen=True):
    """Delete each and notify of it."""

    ids: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(write for token in self.ids for write in _removal(token)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


def _removal(token: str) -> tuple[Write, ...]:
    change = sequential_path(ZnodeKind.TOKEN_CHANGE)
    return Delete(token_path(token)), Create(change, TokenChange(token).to_bytes(), sequential=True)


def _tokens(answers: Iterable[Answer]) -> Iterator[DelegationToken]:
    for answer in answers:
        if answer.ok:
            try:
                yield decode_token(answer.data)
            except UnusablePayloadError:
                continue
