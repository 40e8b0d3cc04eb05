"""What the data process is to follow, and as whom: the first message on its pipe, so that no secret is on a command
line. Values only, cheap to import; `opened` makes a source of one.
"""

import msgspec

from model.sandbox.cluster.options import SandboxOptions


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in to a secured ensemble; empty for an open one."""

    credentials: tuple[tuple[str, str], ...] = ()
    """(scheme, secret), as ZooKeeper's addauth takes them."""
    sasl: dict[str, str] | None = None
    """Fields of `model.hosts.zookeeper.settings.Sasl`."""
    tls: dict[str, str | bool] | None = None
    """Fields of `model.hosts.zookeeper.settings.Tls`."""

    def __repr__(self) -> str:
        return "Login(***)"


NOBODY = Login()


class Opening(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """One source to follow."""

    source: str = ""
    """`zk://…` or a file's path; empty for the sandbox."""
    bootstrap: str = ""
    """`host:port[,…]` of brokers that are asked about consumer groups, beside the source; empty for none."""
    sandbox: SandboxOptions = SandboxOptions(load=True, rate=20.0)
    """What the sandbox is to be, where there is no source."""
    is_demo: bool = False
    """The demo tree, and neither source nor sandbox."""
    name: str = ""
    """What the operator's configuration calls the cluster; empty where it does not."""
    login: Login = NOBODY
    connect_timeout_s: float | None = None
    """How long the first connection may take; None for the source's own patience."""
