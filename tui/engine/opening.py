"""What the data process is to follow, and as whom: the first message on its pipe, so that no secret is on a command
line. Values only, cheap to import; `opened` makes a source of one.

What every session looks at: one source. A sandbox is started once, by the server; sessions only watch it, as they
would any cluster, through its ZooKeeper.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import msgspec

from model.hosts.client_security.values import KafkaSecurity, Tls
from model.hosts.zookeeper.settings import ReadLimits
from model.sandbox.messages import SandboxOptions, SandboxState
from tui.engine.messages import SANDBOX

ONLY_SHOWS = "in a browser kdrill only shows"
"""How each refusal begins where the opening `is_served`."""
NO_WISH = f"{ONLY_SHOWS}: nothing is written, broken or mended"


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in to a secured ensemble and its brokers; empty for an open one."""

    credentials: tuple[tuple[str, str], ...] = ()
    """(scheme, secret), as ZooKeeper's addauth takes them."""
    sasl: dict[str, str] | None = None
    """Fields of `model.hosts.zookeeper.settings.Sasl`."""
    tls: Tls | None = None
    """For ZooKeeper; None for a plain connection."""
    kafka: KafkaSecurity | None = None
    """For brokers; None for a plain connection."""
    warnings: tuple[str, ...] = ()
    """Lines for the operator about the files that all this is from."""
    variables: tuple[str, ...] = ()
    """Environment variables that hold some of it: no child process needs them."""

    def __repr__(self) -> str:
        return "Login(***)"


NOBODY = Login()


class Patience(msgspec.Struct, frozen=True):
    """How long a command waits for its first picture."""

    timeout_s: float = 60.0
    """Since it began, or since anything arrived that is new."""
    begun_s: float = 0.0
    """When the command began, of a clock that only goes forward; 0 where that is not known."""


THIS_MACHINE = "local[*]"
"""The master of Spark where nobody named one: it starts when work is worth it, another one at once."""


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
    demo_began_ms: int = 0
    """When the script of the demo began that is the source; 0 where the source is no demo."""
    name: str = ""
    """What the operator's configuration calls the cluster; empty where it does not."""
    kind: str = ""
    """As in HeaderFacts, where another process has started the source: SANDBOX, DEMO."""
    is_served: bool = False
    """Shown in a browser: nothing is written or broken, and no file of this machine is read."""
    spark_master: str = ""
    """Where large analyses run, as `--spark-master` has it; empty: in this process, all of them. See THIS_MACHINE."""
    allow_writes: bool = False
    """The operator may do something to the cluster, one confirmed action after the other."""
    login: Login = NOBODY
    poll_s: float | None = None
    """Seconds between two looks at brokers; None for the source's own measure."""
    limits: ReadLimits = ReadLimits()
    """How much may be asked of a ZooKeeper at a time, and a second."""
    connect_timeout_s: float | None = None
    """How long the first connection may take; None for the source's own patience."""
    patience: Patience = Patience()
    """Of a command that looks once."""


class ServedSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session has to know beyond its command line, which is the server's; no secrets. As in Opening."""

    source: str = ""
    bootstrap: str = ""
    name: str = ""
    kind: str = ""
    demo_began_ms: int = 0


async def served_source(opening: Opening, ends: AsyncExitStack, tell: Callable[[str], None]) -> ServedSource:
    """Starts what the opening needs, to be ended by `ends`; nothing where it names a source. Raises SandboxError."""
    if opening.is_demo:
        from model.sandbox.demo.demo import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

        demo = DemoSandbox()
        await asyncio.to_thread(demo.open)
        ends.callback(demo.close)
        return ServedSource(demo.source, kind="DEMO", demo_began_ms=demo.began_ms)
    if opening.source:
        return ServedSource()
    from model.sandbox.control.client import SandboxClient  # noqa: PLC0415

    sandbox = SandboxClient(opening.sandbox)
    ends.push_async_callback(sandbox.close)
    tell("the sandbox is starting")
    ready = await sandbox.open(lambda event: tell(event.text), _ignore)
    return ServedSource(f"zk://{ready.zookeeper}", ready.bootstrap, "sandbox", SANDBOX)


def watched(opening: Opening, known: str) -> Opening:
    """What a session opens; `known` is its Standing, as JSON."""
    stands = msgspec.json.decode(known, type=ServedSource)
    if stands.source:
        opening = msgspec.structs.replace(opening, is_demo=False, **msgspec.structs.asdict(stands))
    return msgspec.structs.replace(opening, is_served=True)


def _ignore(state: SandboxState) -> None:
    """Nobody looks at it here."""
