"""The links of a sandbox: who can talk to whom, and how slowly."""

from model.sandbox.control.state import LinkView, SandboxState
from tui.data.fields import Field, Texts
from tui.data.pages.listing import Listing, place_in
from tui.data.sandbox.wishes import link_key
from tui.rows import Column, Row, line, span

COLUMNS = (Column("link", -15, "<", "name"), Column("state", 11, "<", "state"))
SIGNS = {"open": ("", "ok"), "cut": ("X", "dead"), "slow": ("~", "warn")}
"""State → mark and style."""


def sandbox_links(state: SandboxState, _: int) -> Listing:
    """Each broker's links with ZooKeeper and with clients, then those between brokers."""
    links = state.links
    fields: dict[str, Field] = {
        "name": Texts(lambda: [_name(link) for link in links]),
        "state": Texts(lambda: [link.status for link in links]),
    }
    return Listing(
        count=len(links),
        fields=lambda: fields,
        shown=("name", "state"),
        row=lambda index: _row(links[index]),
        place=place_in([link_key(link) for link in links]),
        columns=COLUMNS,
        made_from=(state,),
        nothing="no links",
    )


def _name(link: LinkView) -> str:
    return " - ".join(f"b{place}" if place.isdecimal() else place for place in link.between)


def _row(link: LinkView) -> Row:
    mark, style = SIGNS[link.status]
    word = f"slow {link.delay_ms:,.0f} ms" if link.status == "slow" else link.status
    return Row(key=link_key(link), cells=(line(_name(link)), line(span(word, style))), mark=mark)
