"""A broker's registration as a release would write it: later versions only add keys. It writes nothing.

Source: `kafka.zk.BrokerIdZNode` (3.9), `ZkUtils.registerBrokerInZk` (0.8 to 1.0).
"""

from collections.abc import Mapping

import msgspec

from model.controller.forms import Forms
from model.znodes.brokers import BrokerRegistration

_ADDED: Mapping[int, Mapping[str, object]] = {
    2: {"endpoints": ()},
    3: {"rack": None},
    4: {"listener_security_protocol_map": {}},
    5: {"features": {}},
}
"""By payload version: the keys it added, as they are where there are none."""


def registration_as(registration: BrokerRegistration, forms: Forms) -> BrokerRegistration:
    """The same in the version of this release, without what that version does not know."""
    version = forms.registration_version
    unknown = {key: absent for since, keys in _ADDED.items() if since > version for key, absent in keys.items()}
    return msgspec.structs.replace(registration, version=version, **unknown)
