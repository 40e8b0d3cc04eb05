"""What each style name means in each of the five themes: dark, light, safe, ansi (16 colours) and mono (none at all).

Safe has the colours that Okabe and Ito chose for eyes that see no red, no green or no blue (Color Universal Design,
2008); vermilion is lighter, so that it can be read on dark.

A table of words only; `tui.look` makes terminal styles of it. Colour merely doubles what a letter, a sign or a word
already says: in mono, only bold, reverse and underline are left, and every screen still reads the same.
"""

from collections.abc import Mapping

THEMES = ("dark", "light", "safe", "ansi", "mono")
DARK, BRIGHT = "#000000", "#ffffff"
"""What is written on a filled cell: whichever of the two can be read."""

BASES = {
    "dark": "#c9d1d9 on #0f1419",
    "light": "#1f2328 on #fbfbf9",
    "safe": "#c9d1d9 on #0f1419",
    "ansi": "default on default",
    "mono": "",
}
"""Foreground and background that every other style is laid on."""

_WORDS: dict[str, tuple[str, str, str, str, str]] = {
    # name: dark, light, safe, ansi, mono
    "": ("", "", "", "", ""),
    "text": ("", "", "", "", ""),
    "dim": ("#8b949e", "#5f6770", "#8b949e", "bright_black", ""),
    "strong": ("bold #f0f6fc", "bold #000000", "bold #f0f6fc", "bold", "bold"),
    "title": ("bold #79c0ff", "bold #0550ae", "bold #56b4e9", "bold cyan", "bold"),
    "heading": ("bold #a5b1bd", "bold #424a53", "bold #a5b1bd", "bold", "underline"),
    "rule": ("#3d4650", "#b6bcc3", "#3d4650", "bright_black", ""),
    "name": ("#79c0ff", "#0550ae", "#56b4e9", "cyan", ""),
    "string": ("#a5d6a7", "#116329", "#009e73", "green", ""),
    "number": ("#f0b37e", "#8a4600", "#e69f00", "yellow", ""),
    "keyword": ("#d2a8ff", "#6639ba", "#cc79a7", "magenta", ""),
    "link": ("underline #79c0ff", "underline #0550ae", "underline #56b4e9", "underline cyan", "underline"),
    "match": (
        "bold underline #f2cc60",
        "bold underline #7d4e00",
        "bold underline #f0e442",
        "bold underline yellow",
        "bold underline",
    ),
    # Replicas on the partition map, and brokers
    "leader": ("bold #7ee2a8", "bold #0f6b32", "bold #009e73", "bold green", "bold"),
    "isr": ("#9ecbff", "#0550ae", "#56b4e9", "cyan", ""),
    "out": ("#f2cc60", "#7d4e00", "#f0e442", "yellow", "underline"),
    "adding": ("#d2a8ff", "#6639ba", "#cc79a7", "magenta", "underline"),
    "dead": ("bold #ff7b72", "bold #b31d28", "bold #e8702a", "bold red", "bold reverse"),
    "controller": ("bold #f2cc60", "bold #7d4e00", "bold #e69f00", "bold yellow", "bold"),
    "bright": (
        "bold #000000 on #ffffff",
        "bold #ffffff on #000000",
        "bold #000000 on #ffffff",
        "bold reverse",
        "bold reverse",
    ),
    # Severity
    "ok": ("#7ee2a8", "#0f6b32", "#009e73", "green", ""),
    "info": ("#9ecbff", "#0550ae", "#56b4e9", "cyan", ""),
    "warn": ("#f2cc60", "#7d4e00", "#f0e442", "yellow", "bold"),
    "error": ("bold #ff7b72", "bold #b31d28", "bold #e8702a", "bold red", "bold reverse"),
    # Change marks
    "added": ("#7ee2a8", "#0f6b32", "#009e73", "green", "bold"),
    "changed": ("#f2cc60", "#7d4e00", "#f0e442", "yellow", "bold"),
    "removed": ("#ff7b72", "#b31d28", "#e8702a", "red", "underline"),
    # Row one: what the operator looks at
    "header": ("on #1b222b", "on #e6e9ed", "on #1b222b", "", ""),
    "cluster": ("bold #ffffff", "bold #000000", "bold #ffffff", "bold", "bold"),
    "read-only": ("#7ee2a8", "#0f6b32", "#009e73", "green", ""),
    "armed": (
        "bold #ffffff on #b31d28",
        "bold #ffffff on #b31d28",
        "bold #000000 on #d55e00",
        "bold reverse red",
        "bold reverse",
    ),
    "live": ("bold #7ee2a8", "bold #0f6b32", "bold #009e73", "bold green", "bold"),
    "paused": (
        "bold #0f1419 on #79c0ff",
        "bold #ffffff on #0550ae",
        "bold #0f1419 on #56b4e9",
        "bold reverse cyan",
        "bold reverse",
    ),
    "waiting": ("bold #f2cc60", "bold #7d4e00", "bold #f0e442", "bold yellow", "bold"),
    "stale": (
        "bold #0f1419 on #ffb000",
        "bold #000000 on #ffb000",
        "bold #0f1419 on #e69f00",
        "bold reverse yellow",
        "bold reverse",
    ),
    "snapshot": ("bold #9ecbff", "bold #0550ae", "bold #56b4e9", "bold cyan", "bold"),
    "simulated": (
        "bold #ffffff on #a333c8",
        "bold #ffffff on #8a1fb0",
        "bold #0f1419 on #d89bc0",
        "bold reverse magenta",
        "bold reverse",
    ),
    # Parts of widgets
    "cursor": ("on #24436b", "on #cfe3ff", "on #16324f", "reverse", "reverse"),
    "cursor-idle": ("on #252d37", "on #e6e9ed", "on #252d37", "underline", "underline"),
    "placeholder": ("#6a737d", "#7a828b", "#6a737d", "bright_black", ""),
    "scrollbar": ("#8b949e", "#5f6770", "#8b949e", "bright_black", ""),
    "key": ("bold #f2cc60", "bold #7d4e00", "bold #f0e442", "bold yellow", "bold"),
    "label": ("#a5b1bd", "#424a53", "#a5b1bd", "", ""),
    "tab": ("#a5b1bd", "#424a53", "#a5b1bd", "", ""),
    "tab-active": (
        "bold #ffffff on #24436b",
        "bold #000000 on #cfe3ff",
        "bold #ffffff on #16324f",
        "bold reverse",
        "bold reverse",
    ),
    "prompt": ("bold #f2cc60", "bold #7d4e00", "bold #f0e442", "bold yellow", "bold"),
    "caret": ("reverse", "reverse", "reverse", "reverse", "reverse"),
}
RAMPS = {
    "dark": ("#19263f", "#39346a", "#663e8e", "#a44393", "#db546d", "#f67d51", "#ffac55", "#f9df5c"),
    "light": ("#f3efd9", "#eecf8e", "#eda760", "#e87b47", "#d7514d", "#b92b5d", "#881e78", "#4a237a"),
}
"""From little to much, in equal steps of lightness (OKLCH), which alone tells them apart: for any eye."""
HEATS = 8
_HEAT_ANSI = ("bright_black", "cyan", "cyan", "green", "yellow", "yellow", "red", "bold red")
_HEAT_MONO = ("", "", "", "", "", "bold", "bold", "bold reverse")

HUES = {
    "dark": (
        "#3e96ea", "#ffbe8a", "#1d7d3e", "#df92d8", "#09a6ad", "#e3d058",
        "#7555a8", "#f98f87", "#0bab86", "#bfcbff", "#896105", "#f48cae",
    ),
    "light": (
        "#0165af", "#6b3901", "#2a904b", "#531a50", "#057176", "#524804",
        "#8864c0", "#621516", "#00755a", "#373e87", "#9f7104", "#5f1433",
    ),
}  # fmt: skip
"""Whose something is: a broker or a consumer has one on the whole screen. Neighbours differ in lightness, too."""
IDENTITIES = 12
_HUE_ANSI = ("blue", "yellow", "green", "magenta", "cyan", "bright_yellow") * 2

CELLS: dict[str, tuple[str, str, str, str, str]] = {
    # What a replica is, as a filled cell of the map: dark, light, safe, ansi, mono
    "cell-leader": ("#2f9e62", "#8fd6ae", "#009e73", "bold green", "bold"),
    "cell-isr": ("#22435f", "#cfe0f2", "#1d4a6b", "cyan", ""),
    "cell-out": ("#e0a82e", "#e8b84a", "#f0e442", "bold yellow", "underline"),
    "cell-adding": ("#7a4fb5", "#d3bdf0", "#a6608c", "magenta", "underline"),
    "cell-dead": ("#d8433b", "#e5726b", "#d55e00", "bold red", "bold reverse"),
    "cell-none": ("#161c23", "#f0f0ec", "#161c23", "bright_black", ""),
}


def _luminance(colour: str) -> float:
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _filled(colour: str) -> str:
    """A cell filled with a colour, and what can be read on it (WCAG 2's contrast)."""
    return f"{DARK if _luminance(colour) > 0.179 else BRIGHT} on {colour}"


def _ramped(step: int) -> tuple[str, str, str, str, str]:
    dark, light = (_filled(RAMPS[theme][step]) for theme in ("dark", "light"))
    return (dark, light, dark, _HEAT_ANSI[step], _HEAT_MONO[step])


def _identified(number: int, *, is_filled: bool) -> tuple[str, str, str, str, str]:
    dark, light = (HUES[theme][number] for theme in ("dark", "light"))
    if is_filled:
        dark, light = _filled(dark), _filled(light)
    return (dark, light, dark, _HUE_ANSI[number], "")


def _changed_hands(number: int) -> tuple[str, str, str, str, str]:
    """The cell of whoever gets what was another's."""
    dark, light, safe, ansi, _ = _identified(number, is_filled=True)
    return (f"bold {dark}", f"bold {light}", f"bold {safe}", f"bold reverse {ansi}", "bold reverse")


def _kept(number: int) -> tuple[str, str, str, str, str]:
    """The cell of whoever keeps it: filled, but calm beside those that change hands."""
    bases = (BASES[theme].split(" on ") for theme in ("dark", "light"))
    dark, light = (
        f"{text} on {_blended(hues[number], ground)}"
        for hues, (text, ground) in zip((HUES["dark"], HUES["light"]), bases, strict=True)
    )
    return (dark, light, dark, _HUE_ANSI[number], "")


def _blended(colour: str, ground: str) -> str:
    """A third of a colour on a ground."""
    channels = ((int(one[place : place + 2], 16) for one in (colour, ground)) for place in (1, 3, 5))
    return "#" + "".join(f"{(hue + 2 * below) // 3:02x}" for hue, below in channels)


STYLES: Mapping[str, tuple[str, str, str, str, str]] = {
    **_WORDS,
    **{
        name: (_filled(dark), _filled(light), _filled(safe), ansi, mono)
        for name, (dark, light, safe, ansi, mono) in CELLS.items()
    },
    # Nothing is there, and its sign is quiet.
    "cell-none": ("#7d8590 on #161c23", "#656c75 on #f0f0ec", "#7d8590 on #161c23", *CELLS["cell-none"][3:]),
    **{f"heat{step}": _ramped(step) for step in range(HEATS)},
    **{f"hue{number}": _identified(number, is_filled=False) for number in range(IDENTITIES)},
    **{f"fill{number}": _identified(number, is_filled=True) for number in range(IDENTITIES)},
    **{f"moved{number}": _changed_hands(number) for number in range(IDENTITIES)},
    **{f"kept{number}": _kept(number) for number in range(IDENTITIES)},
}
"""Style name → how it looks in each theme, in the order of THEMES. Written as Rich style definitions."""

FILLED = frozenset(
    {
        "bright",
        *CELLS,
        *(f"heat{step}" for step in range(HEATS)),
        *(f"{kind}{number}" for kind in ("fill", "moved", "kept") for number in range(IDENTITIES)),
    }
)
"""Styles of cells whose colour is what they say: a cursor does not paint over them."""


PLOT = (*(f"hue{number}" for number in range(IDENTITIES)), "leader", "isr", "out", "adding")
"""What a plot's colours 0 to 15 mean: whose something is, and what a replica is."""


def heat(part: float) -> str:
    """The style of a part of the most, 0 to 1; the first step is for nothing alone."""
    return f"heat{min(max(-(-part * (HEATS - 1) // 1), 0), HEATS - 1):.0f}"


def stacked(above: str, below: str) -> str:
    """The style of a half block or a partly filled cell: drawn in the colour of the first, on that of the second."""
    return f"{above}/{below}"


def drawn(style: str) -> str:
    """What draws a block or a bar in the colour that a style fills cells with; other styles draw in theirs anyway."""
    return stacked(style, "") if style in FILLED else style


MARKS = {"X": "error", "!": "warn", "~": "changed", "+": "added", "-": "removed", "*": "controller", "★": "controller"}
"""Signs in a row's first cell → style name."""

UNFADED = frozenset({"cursor", "cursor-idle"})
"""Styles that keep their colours while the screen is faded because its data is old."""
