"""What each style name means in each of the five themes: dark, light, safe, ansi (16 colours) and mono (none at all).

Safe has the colours that Okabe and Ito chose for eyes that see no red, no green or no blue (Color Universal Design,
2008); vermilion is lighter, so that it can be read on dark.

A table of words only; `tui.look` makes terminal styles of it. Colour merely doubles what a letter, a sign or a word
already says: in mono, only bold, reverse and underline are left, and every screen still reads the same.
"""

THEMES = ("dark", "light", "safe", "ansi", "mono")

BASES = {
    "dark": "#c9d1d9 on #0f1419",
    "light": "#1f2328 on #fbfbf9",
    "safe": "#c9d1d9 on #0f1419",
    "ansi": "default on default",
    "mono": "",
}
"""Foreground and background that every other style is laid on."""

STYLES: dict[str, tuple[str, str, str, str, str]] = {
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
"""Style name → how it looks in each theme, in the order of THEMES. Written as Rich style definitions."""

MARKS = {"X": "error", "!": "warn", "~": "changed", "+": "added", "-": "removed", "*": "controller"}
"""Signs in a row's first cell → style name."""

UNFADED = frozenset({"cursor", "cursor-idle"})
"""Styles that keep their colours while the screen is faded because its data is old."""
