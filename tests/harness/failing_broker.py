"""A broker of ours that fails at every request while there is a file `fail` beside its server.properties.

It is run by its path: `python …/failing_broker.py SERVER.PROPERTIES`.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from model.hosts.live_broker.__main__ import main
from model.hosts.live_broker.identity import Listening
from model.hosts.wire.fields import Entity
from model.hosts.wire.server import NO_FEATURES, Answers, Api, Features, Paces, Request

_FAIL = Path(sys.argv[1]).with_name("fail")
_start = Listening.start


def _failing(answer: Answers) -> Answers:
    def fail() -> NoReturn:
        raise OSError("told to fail")

    async def told(request: Request) -> Entity | None:
        return fail() if _FAIL.exists() else await answer(request)

    return told


async def start(
    self: Listening,
    apis: Mapping[int, Api],
    pace: Paces,
    features: Callable[[], Features] = lambda: NO_FEATURES,
    opens: asyncio.Event | None = None,
) -> None:
    failing = {key: api._replace(answer=_failing(api.answer)) for key, api in apis.items()}
    await _start(self, failing, pace, features, opens)


Listening.start = start

if __name__ == "__main__":
    sys.exit(main())
