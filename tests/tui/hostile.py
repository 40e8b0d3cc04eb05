"""Text that hurts a terminal or a markup parser if it is believed, for use with every widget."""

HOSTILE = (
    "[/brokers/ids]",
    "[b1,b2]",
    "[@click=app.quit]x",
    "[bold red]not bold[/]",
    "colour \x1b[31mred\x1b[0m",
    "title \x1b]0;owned\x07",
    "clear \x1b[2J\x1b[H",
    "8-bit \x9b31m c1 \x85",
    "lines\r\nand\ttabs\x00\x7f",
    "wide 日本語トピック",
    "zero\u200bwidth\u200djoin\ufeff",
    "bidi \u202eevil\u2066 \u061c",
    "marks e\u0301\u0300 \u20e3 \ufe0f",
    "blank \u115f\u3164\u2800\u00a0\u3000",
    "surrogate \udc80 private \ue000",
    "flag 🇫🇷 family 👨‍👩‍👧",
    "",
)
