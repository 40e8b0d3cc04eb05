"""`/feature`: set up after an election, changed on request. Which changes are accepted is decided in `features`.

Source: `KafkaController.enableFeatureVersioning`, `disableFeatureVersioning`, `processFeatureUpdates` (3.9); KIP-584.
"""

from collections.abc import Mapping

from model.cluster.words import listed
from model.controller.commands import AnswerRequest, FeatureOutcome
from model.controller.context import ControllerContext
from model.controller.features import (
    FeatureUpdate,
    features_after_election,
    finalized,
    finalized_levels,
    update_problem,
)
from model.controller.step import Outcome, Step
from model.controller.zookeeper import FEATURE, Answer, Code, Create, Read, SetData, Write
from model.znodes.brokers import SupportedVersions, decode_broker
from model.znodes.cluster import FinalizedFeatures, decode_features
from model.znodes.reasons import UnusablePayloadError


class SetUpFeatures(Step, frozen=True):
    """Make `/feature` say what it has to after an election, if it does not."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(FEATURE),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        version = context.settings.forms.feature_version
        current = _features_in(answers[0])
        missing = answers[0].code is Code.NO_NODE
        if version is None or (current is None and not missing):
            # Kafka would lay the office down and never find a controller. Leave it to an operator.
            return Outcome(context, why="" if version is None else f"{FEATURE} cannot be read: it is left as it is.")
        wanted = features_after_election(current, version, enabled=context.settings.finalizes_features)
        if wanted == current:
            return Outcome(context)
        data = wanted.to_bytes()
        return Outcome(context, then=(WriteFeatures(Create(FEATURE, data) if missing else SetData(FEATURE, data)),))


class WriteFeatures(Step, frozen=True):
    """Write it, not guarded by the epoch, as Kafka does."""

    write: Write

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(self.write,))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context)


class UpdateFeatures(Step, frozen=True):
    """UpdateFeatures: read what is finalized, and judge each update."""

    request: int
    updates: tuple[FeatureUpdate, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        if context.settings.forms.feature_version is None:
            return Outcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        return Outcome(context, ask=(Read(FEATURE),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
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
            return Outcome(context, (AnswerRequest(self.request, features=tuple(outcomes)),))
        return Outcome(context, then=(WriteUpdates(self.request, tuple(target.items()), tuple(outcomes)),))


class WriteUpdates(Step, frozen=True):
    """Write the features as they shall be, and answer."""

    request: int
    target: tuple[tuple[str, int], ...]
    outcomes: tuple[FeatureOutcome, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        payload = finalized(dict(self.target), context.settings.forms.feature_version or 1)
        return Outcome(context, ask=(SetData(FEATURE, payload.to_bytes()),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        done = [outcome.feature for outcome in self.outcomes if outcome.error == "NONE"]
        if answers[0].ok:
            answer = AnswerRequest(self.request, features=self.outcomes)
            return Outcome(context, (answer,), why=f"Features finalized anew: {listed(done)}.")
        failed = tuple(
            FeatureOutcome(outcome.feature, "FEATURE_UPDATE_FAILED") if outcome.error == "NONE" else outcome
            for outcome in self.outcomes
        )
        return Outcome(context, (AnswerRequest(self.request, features=failed),))


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
