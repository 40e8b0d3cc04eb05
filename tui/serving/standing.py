"""What every session looks at: one source. A sandbox is started once, by the server; sessions only watch it, as they
would any cluster, through its ZooKeeper.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import msgspec

from model.sandbox.control.state import SandboxState
from tui.data.messages import SANDBOX
from tui.data.opening import Opening


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session has to know beyond its command line, which is the server's; no secrets. As in Opening."""

    source: str = ""
    bootstrap: str = ""
    name: str = ""
    kind: str = ""


async def standing(opening: Opening, ends: AsyncExitStack, tell: Callable[[str], None]) -> Standing:
    """Starts what the opening needs, to be ended by `ends`; nothing where it names a source. Raises SandboxError."""
    if opening.is_demo:
        from model.sandbox.demo_sandbox import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

        demo = DemoSandbox()
        await asyncio.to_thread(demo.open)
        ends.callback(demo.close)
        return Standing(demo.source, kind="DEMO")
    if opening.source:
        return Standing()
    from model.sandbox.control.client import SandboxClient  # noqa: PLC0415

    sandbox = SandboxClient(opening.sandbox)
    ends.push_async_callback(sandbox.close)
    tell("the sandbox is starting")
    ready = await sandbox.open(lambda event: tell(event.text), _ignore)
    return Standing(f"zk://{ready.zookeeper}", ready.bootstrap, "sandbox", SANDBOX)


def watched(opening: Opening, known: str) -> Opening:
    """What a session opens; `known` is its Standing, as JSON."""
    stands = msgspec.json.decode(known, type=Standing)
    if stands.source:
        opening = msgspec.structs.replace(opening, is_demo=False, **msgspec.structs.asdict(stands))
    return msgspec.structs.replace(opening, is_served=True)


def _ignore(state: SandboxState) -> None:
    """Nobody looks at it here."""
