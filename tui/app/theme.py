"""The palette's words made into terminal styles, once per theme; the rules of kdrill.tcss; the App that has them.

Widgets ask their `Look` for a style by name; they hold no colours and no CSS of their own. The app's line filters are
applied here, on the few styles there are, instead of on every line drawn.

The rules of kdrill.tcss and of Textual's own widgets are parsed once, and applied where something changed. Textual
parses all of them anew whenever a screen is opened for the first time, which takes longer than a frame, though only
another theme changes what comes of it. And whenever a class of a widget changes, it works the rules out anew for
everything in that widget: for a whole screen when a terminal is resized.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import is_, itemgetter
from typing import Any
from weakref import WeakKeyDictionary

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ReturnType
from textual.color import Color
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.reactive import reactive
from textual.theme import Theme

from tui.engine.glyphs import ASCII, EIGHTHS, LEVELS, UPPER
from tui.engine.palette import BASES, FILLED, PLOT, STYLES, THEMES, UNFADED
from tui.engine.rows import Span

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


Parsed = dict[Hashable, list[RuleSet]]
"""Rules by variables, source and place. Whoever opens one app after the other keeps them, and need not parse again."""


class KeptStylesheet(Stylesheet):
    """Parses a source again only for other variables; one that is new is parsed beside those that are kept.

    A node that has the rules it had is left alone.
    """

    def __init__(self, *, variables: dict[str, str], parsed: Parsed | None = None) -> None:
        """`parsed`: rules known already; those that are new here are added."""
        super().__init__(variables=variables)
        self._kept_for = variables
        self._parsed: Parsed = {} if parsed is None else parsed
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

    def _parse_rules(self, css: str, read_from: CSSLocation, *how: Any, **named: Any) -> list[RuleSet]:
        key = (frozenset(self._kept_for.items()), css, read_from, how, *sorted(named.items()))
        if (rules := self._parsed.get(key)) is None:
            rules = self._parsed[key] = super()._parse_rules(css, read_from, *how, **named)
        return rules

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


class Colourless(LineFilter):
    """Drops every colour and keeps bold, reverse and underline.

    Textual's own filter for NO_COLOR turns colours into 24-bit greys, which are colours to a terminal.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, style and style.without_color, control) for text, style, control in segments]


COLOURLESS = Colourless()
BLOCKS = frozenset(EIGHTHS + LEVELS + UPPER) - {" "}

LookKey = tuple[object, ...]


@dataclass(frozen=True)
class Glyphs:
    """Signs that are not letters; none of them is wider than one cell."""

    ellipsis: str = "…"
    rail: str = "│"
    thumb: str = "┃"


BOX_GLYPHS = Glyphs()
ASCII_GLYPHS = Glyphs(ellipsis="~", rail=" ", thumb="#")


class Look:
    """Styles and glyphs for one combination of theme, filters and app switches. Resolves each style once."""

    def __init__(
        self, theme: str, filters: tuple[LineFilter, ...] = (), *, ascii_only: bool = False, faded: bool = False
    ) -> None:
        self.theme = theme if theme in THEMES else "dark"
        self.glyphs = ASCII_GLYPHS if ascii_only else BOX_GLYPHS
        self.is_ascii = ascii_only
        self.fills = self.theme not in ("ansi", "mono") and not faded
        """Whether the colour that fills a cell says something."""
        self._reverses = self.theme in ("ansi", "mono") and not ascii_only
        """Whether the cursor is drawn in reverse, in which a full block is a hole."""
        self._filters = filters
        self._faded = faded
        self._column = THEMES.index(self.theme)
        self._base = Style.parse(BASES[self.theme])
        self._background = Color.from_rich_color(self._base.bgcolor) if self._base.bgcolor else Color(0, 0, 0)
        self._styles: dict[tuple[str, str, str], Style] = {}
        self._adopted: dict[Style | None, Style] = {}

    def style(self, name: str = "", over: str = "", under: str = "") -> Style:
        """The style of this name, over that of a line and under that of a cursor; unknown names look like text."""
        found = self._styles.get((name, over, under))
        if found is None:
            layers = (over, name) if name in FILLED or "/" in name else (name, over)
            found = self._filtered(sum(map(self._own, layers), self._base + self._own(under)))
            self._styles[name, over, under] = found
        return found

    def adopt(self, style: Style | None) -> Style:
        """A style from elsewhere (a plot's) laid on this theme's base, which is what its default colours mean.

        Of the sixteen colours, each means one of the palette's styles.
        """
        found = self._adopted.get(style)
        if found is None:
            own = style or Style.null()
            colours = [self._ink(colour) for colour in (own.color, own.bgcolor)]
            found = self._filtered(self._base + own.without_color + Style.from_color(*colours))
            self._adopted[style] = found
        return found

    def _ink(self, colour: RichColor | None) -> RichColor | None:
        if colour is None or colour.is_default:
            return None
        if colour.number is not None and colour.number < len(PLOT):
            return self._own(PLOT[colour.number]).color
        return colour

    def segment(self, text: str, name: str = "", over: str = "") -> Segment:
        """A piece of plain text, ready to draw."""
        return Segment(self.in_letters(text), self.style(name, over))

    def segments(self, line: Iterable[Span], over: str = "", under: str = "") -> list[Segment]:
        """Pieces of plain text, ready to draw; neighbours in one style become one, which halves what is sent."""
        segments: list[Segment] = []
        for name, pieces in groupby(line, key=itemgetter(1)):
            text = "".join([piece[0] for piece in pieces])
            if text:
                is_hole = over and self._reverses and BLOCKS.issuperset(text)
                segments.append(Segment(self.in_letters(text), self.style(name, "" if is_hole else over, under)))
        return segments

    def in_letters(self, text: str) -> str:
        """The text, its signs replaced by their twins where only ASCII is wanted."""
        return text.translate(ASCII) if self.is_ascii and not text.isascii() else text

    def _own(self, name: str) -> Style:
        above, is_stacked, below = name.partition("/")
        if is_stacked:
            return Style(color=self._fill(above), bgcolor=self._fill(below))
        style = Style.parse(STYLES.get(name, STYLES[""])[self._column])
        if self._faded and name not in UNFADED:
            return style.without_color + Style.parse(STYLES["dim"][self._column])
        return style

    def _fill(self, name: str) -> RichColor | None:
        """What a style fills a cell with, or draws a full block in."""
        own = self._own(name)
        if name in FILLED:
            return own.bgcolor or own.color  # with sixteen colours nothing is filled
        style = self._base + own
        return style.color if name else style.bgcolor

    def _filtered(self, style: Style) -> Style:
        segments = [Segment("x", style)]
        for line_filter in self._filters:
            segments = line_filter.apply(segments, self._background)
        return segments[0].style or Style.null()


def _textual_theme(name: str) -> Theme:
    """Textual's own parts (borders, overlays) in colours that go with ours."""
    if name in ("ansi", "mono"):
        return _terminal_theme(name, coloured=name == "ansi")
    foreground, background = BASES[name].split(" on ")

    def hue(style: str) -> str:
        return STYLES[style][THEMES.index(name)].split()[-1]

    return Theme(
        name=name,
        dark=name != "light",
        primary=hue("info"),
        warning=hue("warn"),
        error=hue("error"),
        success=hue("ok"),
        accent=hue("key"),
        foreground=foreground,
        background=background,
        surface=background,
        panel=hue("header"),
    )


def _terminal_theme(name: str, *, coloured: bool) -> Theme:
    """A theme that leaves the foreground and the background to the terminal."""
    default = "ansi_default"
    variables = {f"{part}-text-style": "reverse" for part in ("block-cursor", "input-cursor", "button-focus")}
    variables |= dict.fromkeys(("ansi-background", "ansi-foreground", "border-blurred"), default)
    return Theme(
        name=name,
        ansi=True,
        primary="ansi_cyan" if coloured else default,
        secondary=default,
        warning="ansi_yellow" if coloured else default,
        error="ansi_red" if coloured else default,
        success="ansi_green" if coloured else default,
        accent=default,
        foreground=default,
        background=default,
        surface=default,
        panel=default,
        boost=default,
        variables=variables,
    )


class ThemedApp(App[ReturnType]):
    """An App with the five themes, line glyphs or ASCII, and a screen that fades while its data is old."""

    faded: reactive[bool] = reactive(False, init=False)
    """The link is broken: everything but the widgets that say so is drawn without its colours."""

    def __init__(self, *, theme: str = "dark", ascii_only: bool = False, parsed: Parsed | None = None) -> None:
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables(), parsed=parsed)
        self.ascii_only = ascii_only
        for name in THEMES:
            self.register_theme(_textual_theme(name))
        self.theme = "mono" if self.no_color else theme

    def get_line_filters(self) -> list[LineFilter]:
        """Without colour there is one filter, ours; otherwise those that Textual needs."""
        if self.no_color or self.theme == "mono":
            return [COLOURLESS]
        return list(super().get_line_filters())

    def watch_faded(self) -> None:
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()


def look_of(app: App[Any], last: Look | None, key: LookKey, *, fades: bool = True) -> tuple[Look, LookKey]:
    """The app's present Look with its key; the last Look itself when nothing changed since."""
    present = (
        "mono" if app.no_color else app.theme,
        tuple(app.get_line_filters()),
        getattr(app, "ascii_only", False),
        fades and getattr(app, "faded", False),
    )
    if last is not None and key == present:
        return last, key
    theme, filters, ascii_only, faded = present
    return Look(theme, filters, ascii_only=ascii_only, faded=faded), present
