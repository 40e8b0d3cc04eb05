"""The dashboard as a browser is given it. What the data process does for it, that process refuses by itself."""

from collections.abc import Mapping
from typing import Any

from textual.dom import DOMNode

from tui.app import Kdrill
from tui.data.opening import ONLY_SHOWS
from tui.serving.driver import SessionDriver

REFUSED: Mapping[str, str] = {
    "export": "no file is written",
    "app.clusters": "one cluster is shown",
    "app.suspend_process": "there is no shell to go back to",
}
"""Action → what of it does not hold in a browser."""


class ServedKdrill(Kdrill):
    """Nobody knows who sits before a browser: the machine that it is served by is not touched."""

    CSS_PATH = "../kdrill.tcss"

    def get_driver_class(self) -> type[SessionDriver]:
        return SessionDriver

    async def run_action(
        self,
        action: Any,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        if action in REFUSED:
            self._refuse(REFUSED[action])
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def export(self, name: str) -> None:
        self._refuse(REFUSED["export"])

    def switch(self, name: str) -> None:
        self._refuse(REFUSED["app.clusters"])

    def _refuse(self, reason: str) -> None:
        self._say(f"{ONLY_SHOWS}: {reason}")
