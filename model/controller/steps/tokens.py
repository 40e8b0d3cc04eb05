"""Delegation tokens whose time is over are deleted, and brokers are notified. Tokens are made elsewhere.

Source: `KafkaController.onControllerFailover` ("delete-expired-tokens"), `DelegationTokenManager.expireTokens` and
`removeToken` (1.1 to 3.9). These writes are not fenced by the controller's epoch.
"""

from collections.abc import Iterable, Iterator

from model.cluster.words import counted
from model.controller.commands import StartTimer
from model.controller.context import ControllerContext
from model.controller.step import Outcome, Step
from model.controller.zookeeper import TOKENS, Answer, Children, Create, Delete, Read, Write
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import sequential_path, token_path
from model.znodes.reasons import UnusablePayloadError
from model.znodes.security import DelegationToken, TokenChange, decode_token

TOKEN_TIMER = "delete-expired-tokens"


class ExpireTokens(Step, frozen=True):
    """List the tokens, and look again after the interval."""

    def begin(self, context: ControllerContext) -> Outcome:
        timer = StartTimer(TOKEN_TIMER, context.settings.delegation_token_expiry_check_interval_ms)
        return Outcome(context, (timer,), ask=(Children(TOKENS),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(ReadTokens(answers[0].names),) if answers[0].names else ())


class ReadTokens(Step, frozen=True):
    """Read when each of them ends."""

    ids: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(Read(token_path(token)) for token in self.ids))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        now_ms = context.now_ms
        over = tuple(
            token.token_id
            for token in _tokens(answers)
            if min(token.max_timestamp_ms, token.expiry_timestamp_ms) < now_ms
        )
        why = f"The time of {counted(len(over), 'delegation token')} is over." if over else ""
        return Outcome(context, then=(DeleteTokens(over),) if over else (), why=why)


class DeleteTokens(Step, frozen=True):
    """Delete each and notify of it."""

    ids: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(write for token in self.ids for write in _removal(token)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context)


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
