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
from model.hosts.quorum.node_requests import OF_NODES, controllers_described
from model.hosts.quorum.quorum_voter import refused
from model.hosts.quorum.topic_requests import OF_TOPICS
from model.hosts.wire.messages import Entity, encode_response, request_start, versions_known
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api
from model.hosts.wire.server import Request as Received
from model.kraft_controller.cluster import EVERY_BROKER

OF_OPERATORS: Final[Mapping[int, Answers]] = {**OF_TOPICS, **OF_CONFIGS, **OF_NODES, **OF_ACLS}
"""By API key."""
OF_THE_VOTER: Final = (ApiKey.DESCRIBE_QUORUM, ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
"""What operators ask that the voter answers, by what it knows."""


def controller_apis(controller: ActiveController) -> Mapping[int, Api]:
    """What is served at the controllers' listener, beside what voters ask each other."""
    answers = {**OF_BROKERS, **OF_OPERATORS}

    async def answer(received: Received) -> Entity:
        try:
            return await _answered(controller, answers[received.start.api_key], received)
        except NotActiveError:
            return refused(received)

    async def describe_cluster(received: Received) -> Entity:
        return controllers_described(controller, received)

    served = {
        key: Api(max(_LOWEST.get(key, 0), versions_known(key)[0]), versions_known(key)[1], answer) for key in answers
    }
    of_voter = {key: controller.voter.apis[key] for key in OF_THE_VOTER}
    sent_on = {**{key: served[key] for key in OF_OPERATORS}, **of_voter}
    return {
        **served,
        ApiKey.ENVELOPE: _unwrapping(controller, sent_on),
        ApiKey.DESCRIBE_CLUSTER: Api(*versions_known(ApiKey.DESCRIBE_CLUSTER), describe_cluster),
        ApiKey.DESCRIBE_CONFIGS: _describing(controller),
    }


def _unwrapping(controller: ActiveController, sent_on: Mapping[int, Api]) -> Api:
    """Envelopes, with what a broker sends on in them."""

    async def answer(inner: Received) -> Entity | None:
        key = inner.start.api_key
        if key in OF_OPERATORS:
            return await _answered(controller, OF_OPERATORS[key], inner)
        if controller.state is None:
            raise NotActiveError
        return await sent_on[key].answer(inner)

    async def unwrap(received: Received) -> Entity:
        shape, frame = received.shape("EnvelopeResponse"), bytes(received.body.request_data)
        start = request_start(frame)
        api = sent_on.get(start.api_key)
        if api is None:
            return shape(response_data=None, error_code=ErrorCode.invalid_request)
        if not api.lowest <= start.version <= api.highest:
            return shape(response_data=None, error_code=ErrorCode.unsupported_version)  # the client asks anew
        try:
            entity = await answer(Received(start, frame, received.peer, received.listener))
        except NotActiveError:
            return shape(response_data=None, error_code=ErrorCode.not_controller)
        assert entity is not None, "no Produce is sent on"
        data = b"".join(encode_response(entity, start.correlation_id))
        return shape(response_data=data, error_code=ErrorCode.none)

    return Api(0, 0, unwrap)


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
