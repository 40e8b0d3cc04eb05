"""What `kdrill` without a source opens: an embedded ZooKeeper with the demo cluster on it, alive.

It is watched like any other cluster, through its `source`; this module draws nothing.
"""

import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from model.sandbox.demo_cluster import ROOT, DemoCluster
from model.sandbox.errors import SandboxError
from model.sandbox.fast_zookeeper import start_zookeeper

PERIOD_S = 2.0


class DemoSandbox:
    """A server, the demo cluster and the thread that moves it. Ends with this process, however that ends."""

    def __init__(self, *, period_s: float | None = PERIOD_S, archives: Path | None = None) -> None:
        """Touches nothing yet. `period_s` is the time between two changes, None for a cluster that stands still;
        `archives` is where class archives are cached, the user's cache folder if None."""
        self.source = ""
        """`zk://127.0.0.1:PORT/kafka`, once open."""
        self._period_s = period_s
        self._archives = archives
        self._open = ExitStack()
        self._closing = threading.Event()

    def open(self) -> Self:
        """Start everything. Raises SandboxError, with nothing left behind."""
        with ExitStack() as opening:
            server = opening.enter_context(start_zookeeper(archives=self._archives))
            cluster = opening.enter_context(DemoCluster(server.address))
            if self._period_s is not None:
                ticker = threading.Thread(target=self._animate, args=(cluster, self._period_s), daemon=True)
                ticker.start()
                opening.callback(ticker.join)
            opening.callback(self._closing.set)
            self.source = f"zk://{server.address}{ROOT}"
            self._open = opening.pop_all()
        return self

    def close(self) -> None:
        """End everything."""
        self._open.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _animate(self, cluster: DemoCluster, period_s: float) -> None:
        number = 0
        while not self._closing.wait(period_s):
            # A step that failed is missed, not retried: most of the next ones do not depend on it.
            with suppress(SandboxError):
                cluster.step(number)
            number += 1
