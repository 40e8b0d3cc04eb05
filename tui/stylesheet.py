"""The app's style rules, parsed once. What is in the rules is kdrill.tcss's.

Textual parses all of them anew whenever a screen is opened for the first time, which takes longer than a frame, though
only another theme changes what comes of it.
"""

from textual.css.stylesheet import Stylesheet


class KeptStylesheet(Stylesheet):
    """Parses a source again only for other variables; one that is new is parsed beside those that are kept."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._kept_for = variables

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._kept_for:
            super().set_variables(variables)
            self._kept_for = variables

    def reparse(self) -> None:
        self.parse()
