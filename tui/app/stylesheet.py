"""The rules of kdrill.tcss and of Textual's own widgets: parsed once, and applied where something changed.

Textual parses all of them anew whenever a screen is opened for the first time, which takes longer than a frame, though
only another theme changes what comes of it. And whenever a class of a widget changes, it works the rules out anew for
everything in that widget: for a whole screen when a terminal is resized. Knows nothing of colours or of screens.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

OF_TEXTUALS_OWN = "-textual-system"
"""The class of nodes that no universal selector means."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """Rules that may be those of a node by its own type, id and classes, and what else they ask for."""

    rules: list[RuleSet]
    classes: frozenset[str]
    pseudo_classes: tuple[str, ...]

    def state_of(self, node: DOMNode, known: "States") -> tuple[Any, ...]:
        """All that decides which of them are the node's, and by which of their selectors: of it and all it is in."""
        if (state := known.get((self, node))) is None:
            parent = node.parent
            around = self.state_of(parent, known) if parent is not None else ()
            own = (type(node), node.id, self.classes.intersection(node.classes))
            state = known[self, node] = (around, *own, *map(node.has_pseudo_class, self.pseudo_classes))
        return state


States = dict[tuple[Fitting, DOMNode], tuple[Any, ...]]
"""What decides which rules are a node's, and by which of their selectors."""


def fitting(rules: list[RuleSet]) -> Fitting:
    """What those rules ask for."""
    selectors = [each for rule in rules for some in rule.selector_set for each in some.selectors]
    pseudo_classes = {name for each in selectors for name in each.pseudo_classes}
    classes = {each.name for each in selectors}  # types and ids among them, which are no node's class
    return Fitting(rules, frozenset(classes | {OF_TEXTUALS_OWN}), tuple(sorted(pseudo_classes)))


def are_same(some: list[RuleSet], others: list[RuleSet]) -> bool:
    """Whether these are the same objects: equal ones would be compared line by line."""
    return len(some) == len(others) and all(map(is_, some, others))


class KeptStylesheet(Stylesheet):
    """Parses a source again only for other variables; one that is new is parsed beside those that are kept.

    A node that has the rules it had is left alone.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._kept_for = variables
        self._fitting: dict[frozenset[str], Fitting] = {}
        self._fitting_of: list[RuleSet] = []
        self._earlier: dict[frozenset[str], Fitting] = {}
        self._narrowed: list[RuleSet] = []
        self._states: States | None = None
        self._applied: WeakKeyDictionary[DOMNode, tuple[Fitting, tuple[Any, ...]]] = WeakKeyDictionary()

    @property
    def rules(self) -> list[RuleSet]:
        """While they are applied to a node, those that may be its own: Textual looks at each."""
        return self._narrowed or super().rules

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._kept_for:
            super().set_variables(variables)
            self._kept_for = variables

    def reparse(self) -> None:
        self.parse()

    def update_nodes(self, nodes: Iterable[DOMNode], animate: bool = False) -> None:
        """As Textual's. Nothing else happens meanwhile, so each node is asked once what it is like."""
        self._states = {}
        try:
            super().update_nodes(nodes, animate)
        finally:
            self._states = None

    def apply(self, node: DOMNode, **how: Any) -> None:
        """As Textual's, which may be skipped: but what is drawn may still be that of a parent whose colours changed."""
        found = self._fitting_for(node)
        applied = (found, found.state_of(node, {} if self._states is None else self._states))
        known = self._applied.get(node)
        if known and known[0] is found and known[1] == applied[1] and not node._get_component_classes():
            node.notify_style_update()
            return
        before, self._narrowed = self._narrowed, found.rules
        try:
            super().apply(node, **how)
        finally:
            self._narrowed = before
        self._applied[node] = applied

    def _fitting_for(self, node: DOMNode) -> Fitting:
        """The same object for as long as the same rules fit."""
        rules = super().rules
        if self._fitting_of is not rules:
            if not are_same(self._fitting_of, rules):
                self._earlier |= self._fitting
                self._fitting = {}
            self._fitting_of = rules
        names = frozenset(self.rules_map.keys() & node._selector_names)
        if (found := self._fitting.get(names)) is None:
            now, before = self._of(names), self._earlier.get(names)
            found = self._fitting[names] = before if before and are_same(before.rules, now) else fitting(now)
        return found

    def _of(self, names: Iterable[str]) -> list[RuleSet]:
        """In their order."""
        found = {id(rule) for name in names for rule in self.rules_map[name]}
        return [rule for rule in super().rules if id(rule) in found]
