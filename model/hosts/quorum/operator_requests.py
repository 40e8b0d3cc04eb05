"""What operators ask an active controller, mostly by their broker, which sends it on in an Envelope (KIP-590).

Each answer, also to brokers, waits until all that the controller has written by then is committed.
"""

from collections.abc import Mapping
from typing import Final

from kio.schema.errors import ErrorCode

from model.broker.settings.dynamic_configs import SettingsInLayers, usable_config
from model.broker.settings.server_properties import read_server_properties
from model.hosts.live_broker.apis.config_stores import LoggedConfigs
from model.hosts.live_broker.apis.configs import ConfigRequests
from model.hosts.quorum.acl_requests import OF_ACLS
from model.hosts.quorum.active_controller import ActiveController, NotActiveError
from model.hosts.quorum.broker_requests import OF_BROKERS, Answers
from model.hosts.quorum.config_requests import OF_CONFIGS
from model.hosts.quorum.node_requests import OF_NODES
from model.hosts.quorum.quorum_voter import refused
from model.hosts.quorum.topic_requests import OF_TOPICS
from model.hosts.wire.messages import Entity, encode_response, request_start, versions_known
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api
from model.hosts.wire.server import Request as Received
from model.kraft_controller.cluster import EVERY_BROKER

OF_OPERATORS: Final[Mapping[int, Answers]] = {**OF_TOPICS, **OF_CONFIGS, **OF_NODES, **OF_ACLS}
"""By API key."""
ENVELOPE: Final = 58


def controller_apis(controller: ActiveController) -> Mapping[int, Api]:
    """What is served at the controllers' listener, beside what voters ask each other."""
    answers = {**OF_BROKERS, **OF_OPERATORS}

    async def answer(received: Received) -> Entity:
        try:
            return await _answered(controller, answers[received.start.api_key], received)
        except NotActiveError:
            return refused(received)

    async def unwrap(received: Received) -> Entity:
        shape, frame = received.shape("EnvelopeResponse"), bytes(received.body.request_data)
        start = request_start(frame)
        inner = Received(start, frame, received.peer, received.listener)
        if start.api_key not in OF_OPERATORS:
            return shape(response_data=None, error_code=ErrorCode.invalid_request)
        if not served[start.api_key].lowest <= start.version <= served[start.api_key].highest:
            return shape(response_data=None, error_code=ErrorCode.unsupported_version)  # the client asks anew
        try:
            entity = await _answered(controller, OF_OPERATORS[start.api_key], inner)
        except NotActiveError:
            return shape(response_data=None, error_code=ErrorCode.not_controller)
        data = b"".join(encode_response(entity, start.correlation_id))
        return shape(response_data=data, error_code=ErrorCode.none)

    served = {
        key: Api(max(_LOWEST.get(key, 0), versions_known(key)[0]), versions_known(key)[1], answer) for key in answers
    }
    return {**served, ENVELOPE: Api(0, 0, unwrap), ApiKey.DESCRIBE_CONFIGS: _describing(controller)}


def _describing(controller: ActiveController) -> Api:
    """DescribeConfigs, which is not sent on by brokers. Of a node with the defaults of all that is not in the log."""
    node, static = controller.voter.node_id, read_server_properties("").settings

    def layers() -> SettingsInLayers:
        configs = controller.active.cluster.configs
        default, own = configs.get(EVERY_BROKER, {}), configs.get(f"brokers/{node}", {})
        return SettingsInLayers(static, usable_config(default, of_one=False)[0], usable_config(own, of_one=True)[0])

    store = LoggedConfigs(lambda: controller.active.cluster.configs, lambda: controller.active.cluster.topics)
    described = ConfigRequests(node, store, layers).apis[ApiKey.DESCRIBE_CONFIGS]

    async def answer(received: Received) -> Entity | None:
        try:
            return await described.answer(received)
        except NotActiveError:
            return refused(received)

    return described._replace(answer=answer)


async def _answered(controller: ActiveController, answer: Answers, received: Received) -> Entity:
    if controller.state is None:
        raise NotActiveError
    entity = answer(controller, received)
    await controller.all_committed()
    return entity


_LOWEST: Final = {19: 2, 20: 1, 56: 2}
"""The first versions that a controller knows, where there are older ones."""
