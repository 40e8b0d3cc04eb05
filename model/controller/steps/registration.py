"""A broker's way into ZooKeeper: the paths it needs, the cluster's id, its own registration. It runs for no office.

Source: `KafkaServer.startup`, `KafkaZkClient.createTopLevelPaths`, `createOrGetClusterId`, `registerBroker` (3.9).
"""

from model.controller.context import ControllerContext
from model.controller.step import Outcome, Step
from model.controller.zookeeper import CLUSTER_ID, Answer, Code, Create, Delete, Multi, Read, SetData
from model.znodes.cluster import ClusterId
from model.znodes.paths import broker_path


class MakeZnode(Step, frozen=True):
    """Create a persistent znode and what is missing above it; one that is there stays as it is."""

    path: str
    data: bytes = b""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Create(self.path, self.data),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        parent = self.path.rpartition("/")[0]
        if answers[0].code is Code.NO_NODE and parent:
            return Outcome(context, then=(MakeZnode(parent), self))
        return Outcome(context)


class MakeClusterId(Step, frozen=True):
    """The first broker names the cluster; `proposed` are 22 characters of base64url."""

    proposed: str

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(CLUSTER_ID),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if answers[0].ok:
            return Outcome(context)
        return Outcome(context, then=(MakeZnode(CLUSTER_ID, ClusterId(cluster_id=self.proposed).to_bytes()),))


class RegisterBroker(Step, frozen=True):
    """Register under this `session`; the broker epoch is the transaction of the create (KIP-380, 2.2).

    The znode of the broker's own `previous_session` is replaced (KAFKA-7165). Anybody else's means that two brokers
    share an id: then nothing of `after` is done.
    """

    registration: bytes
    after: tuple[Step, ...]
    previous_session: int = 0
    session: int = 0

    def begin(self, context: ControllerContext) -> Outcome:
        path = broker_path(context.broker_id)
        register = Create(path, self.registration, ephemeral=True)
        if context.settings.forms.broker_epochs:
            register = Multi((Create(path, ephemeral=True), SetData(path, self.registration, version=0)))
        return Outcome(context, ask=(register, Read(path)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        registered, found = answers
        # A connection that broke may have hidden from us that the first try was a success.
        if registered.ok or (self.session and found.owner == self.session):
            epoch = f" with broker epoch {found.czxid}" if context.settings.forms.broker_epochs else ""
            why = f"Broker {context.broker_id} is registered{epoch}."
            return Outcome(context.replace(broker_epoch=found.czxid), then=self.after, why=why)
        if self.previous_session and found.owner == self.previous_session:
            return Outcome(context, then=(DeleteRegistration(), self))
        return Outcome(context, why=f"Another broker is registered under id {context.broker_id}: this one stays out.")


class DeleteRegistration(Step, frozen=True):
    """The znode of an expired session that ZooKeeper has not removed yet."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Delete(broker_path(context.broker_id)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context)
