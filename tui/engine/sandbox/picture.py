"""The picture of a cluster: ZooKeeper or the quorum on top, brokers below as boxes, their links, clients at the foot.

A pure function of the facts and the size. What does not fit in one form is drawn in a smaller one; processes for which
there is no room at all are counted. Colour doubles what a word or a sign says.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tui.engine.glyphs import Box, Canvas
from tui.engine.listing import AnswerMemo
from tui.engine.messages import Spot, TextAnswer
from tui.engine.queries import NO_SANDBOX, ClusterPicture
from tui.engine.rows import Span, span
from tui.engine.sandbox.facts import (
    CUT_OFF,
    Drawn,
    SandboxFacts,
    SandboxNode,
    facts_of,
    group_words,
    produced,
    session_lines,
    share_bar,
    state_line,
    state_words,
    style_of,
)
from tui.engine.text import cells, plain

FILLS = {"PAUSED": "cell-out", CUT_OFF: "cell-out", "STARTING": "cell-adding", "STOPPED": "cell-none", "UP": ""}
"""State → how its box is filled; what is not here is dead."""
LINKS = {"cut": ("╎", "error", "- CUT -"), "slow": ("┆", "warn", "SLOW")}
"""Status of a link that is not as it should be → its sign, its style, a word beside it."""
GAP = 2
CHIP, WIDE_CHIP, NAMED = 16, 36, 20
"""Cells of a broker without a box, of one that also says what it leads, and of that its name and state."""
TITLE = 4
"""Cells of a box's upper edge that its title leaves."""
CLIENT, WIDEST = 22, 34
"""Cells of the box of a client, at least, and of a broker, at most."""


class PictureScale(NamedTuple):
    """How large things are drawn: lines inside the boxes of servers, brokers and clients, and of a link.

    Servers and clients with 0 are a line each, brokers with 0 a few cells.
    """

    top: int
    link: int
    broker: int
    client: int

    @property
    def least(self) -> int:
        """Cells of a broker."""
        return 20 if self.broker > 1 else 16


FORMS = (
    PictureScale(1, 2, 6, 3),
    PictureScale(1, 2, 5, 3),
    PictureScale(1, 1, 4, 3),
    PictureScale(1, 1, 4, 0),
    PictureScale(1, 1, 3, 0),
    PictureScale(0, 1, 3, 0),
    PictureScale(0, 1, 1, 0),
    PictureScale(0, 0, 0, 0),
)
"""The first for which there is room is taken, else the last."""


def cluster_picture(drawn: Drawn, query: ClusterPicture, now_ms: int, memory: AnswerMemo) -> TextAnswer:
    """The picture, with the cursor on the process whose name is the key; at first on the controller."""
    facts = facts_of(drawn, now_ms, memory)
    form = (query.width, query.height, query.key, query.is_filled)
    return memory.recall("cluster picture", (facts, *form), lambda: _answer(facts, query))


def _answer(facts: SandboxFacts, query: ClusterPicture) -> TextAnswer:
    picture = SandboxPicture(facts, query.width, query.height, chosen_in(facts, query.key), is_filled=query.is_filled)
    lines = picture.drawn()
    plain = "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
    return TextAnswer(picture.chosen, lines, plain, spots=tuple(picture.spots), again_ms=facts.again_ms)


def chosen_in(facts: SandboxFacts, key: str) -> str:
    """What the cursor is on: what it was on, as long as that is there."""
    there = [node.key for node in facts.nodes if node.key]
    if key in there:
        return key
    controllers = (node.key for node in (*facts.top, *facts.brokers) if node.is_controller and node.key)
    return next(controllers, facts.brokers[0].key if facts.brokers else next(iter(there), ""))


class SandboxPicture:
    """One drawing."""

    def __init__(self, facts: SandboxFacts, width: int, height: int, chosen: str, *, is_filled: bool) -> None:
        self.facts, self.chosen = facts, chosen
        self.spots: list[Spot] = []
        self._size = max(width, 1), max(height, 1)
        self._is_filled = is_filled
        self._canvas = Canvas(*self._size)
        self._trunk = 0
        self._head = 0 if facts.is_sandbox else 2

    def drawn(self) -> tuple[tuple[Span, ...], ...]:
        """The lines; `spots` are known then."""
        width, height = self._size
        if self._head:
            self._canvas.put(0, 0, NO_SANDBOX, "warn")
        form = next((each for each in FORMS if self._height(each) <= height - self._head), FORMS[-1])
        slack = max(height - self._head - self._height(form), 0)
        y = self._top(form, self._head + min(slack // 4, 2))
        y = self._brokers(form, y, height - self._clients_height(form) - bool(self._is_crowded(form)))
        self._clients(form, y)
        self._canvas.put(0, height - 1, self.facts.readers, "dim")
        hidden = len([node for node in self.facts.nodes if node.key]) - len(self.spots)
        if hidden:
            more = f" and {hidden:,} more "
            self._canvas.put(max(width - len(more), 0), height - 1, more, "strong")
        self.spots.sort(key=lambda spot: (spot.y, spot.x))
        return self._canvas.lines()

    # How much room a form takes

    def _grid(self, form: PictureScale) -> tuple[int, int]:
        """Brokers in a row, and rows. More than one leave room at the left for the line that ties them together."""
        count = max(len(self.facts.brokers), 1)
        for room in (self._size[0], self._size[0] - GAP):
            columns = max(min((room + GAP) // (form.least + GAP), count), 1)
            if columns == count:
                break
        rows = -(-count // columns)
        return -(-count // rows), rows

    def _row_height(self, form: PictureScale) -> int:
        return form.broker + 2 + form.link + 1 if form.broker else 1

    def _height(self, form: PictureScale) -> int:
        _, rows = self._grid(form)
        return (3 if form.top else 1) + rows * self._row_height(form) + self._clients_height(form)

    def _clients_height(self, form: PictureScale) -> int:
        facts = self.facts
        count = len(facts.groups) + (facts.producer is not None)
        if not form.client:
            return count
        columns = max((self._size[0] + GAP) // (CLIENT + GAP), 1)
        return -(-count // columns) * (form.client + 2) + (2 if count else 0)

    def _is_crowded(self, form: PictureScale) -> bool:
        return self._height(form) > self._size[1] - self._head

    # ZooKeeper, or the quorum

    def _top(self, form: PictureScale, y: int) -> int:
        """Draws the servers from this line on; the line after them."""
        top = self.facts.top
        if not form.top:
            each = self._size[0] // max(len(top), 1)
            room = each - 2 - max((cells("".join(f" {word}" for word in state_words(node))) for node in top), default=0)
            self._line_of([replace(node, name=_named(node, room)) for node in top], y)
            return y + 1
        each = max(min((self._size[0] + GAP) // max(len(top), 1) - GAP, 28), 1)
        x = max((self._size[0] - len(top) * (each + GAP) + GAP) // 2, 0)
        for place, node in enumerate(top):
            box = Box(x + place * (each + GAP), y, each, 3)
            self._node_box(node, box)
            links = "  ".join(filter(None, (node.role, LINKS["slow"][2] * (node.link == "slow"), node.links)))
            self._write(box, 0, [*state_line(node), span(f"  {links}".rstrip(), "warn")], self._ink(node))
        return y + 3

    def _line_of(self, nodes: Sequence[SandboxNode], y: int, x: int = 0) -> int:
        """Nodes one after the other in a line; where it ends."""
        for node in nodes:
            x = self._token(node, x, y, " ".join(filter(None, (node.name, *state_words(node)))))
        return x

    def _token(self, node: SandboxNode, x: int, y: int, text: str) -> int:
        """A node without a box, if there is room; where the next one begins."""
        width = cells(plain(text)) + 2
        if x + width > self._size[0] or y >= self._size[1]:
            return self._size[0]
        is_chosen = bool(node.key) and node.key == self.chosen
        style = "cursor" if is_chosen else self._ink(node) or style_of(node)
        self._canvas.put(x, y, f"[{text}]" if is_chosen else f" {text} ", style)
        self._spot(node, Box(x, y, width, 1))
        return x + width

    # Brokers

    def _brokers(self, form: PictureScale, y: int, end: int) -> int:
        columns, count = self._grid(form)
        self._trunk = y
        if not form.broker:
            return self._chips(y, end)
        margin = GAP if count > 1 else 0
        width = max(min((self._size[0] - margin + GAP) // columns - GAP, WIDEST), 1)
        rows = [self.facts.brokers[at : at + columns] for at in range(0, len(self.facts.brokers), columns)]
        for number, row in enumerate(rows):
            x = max((self._size[0] - columns * (width + GAP) + GAP) // 2, margin)
            boxes = [Box(x + n * (width + GAP), y + 1 + form.link, width, form.broker + 2) for n in range(len(row))]
            self._wire(form, boxes, y, is_first=number == 0)
            for node, box in zip(row, boxes, strict=True):
                self._broker(node, box)
                self._link(node, box, form.link)
            y += self._row_height(form)
        if form.link and self.facts.missing:
            text = f" {self.facts.missing}: nothing is written "
            self._canvas.put(max((self._size[0] - len(text)) // 2, 0), self._trunk, text, "error")
        return y

    def _chips(self, y: int, end: int) -> int:
        """Brokers of a few cells each; where not all have room, those that matter are drawn."""
        rows, count = max(end - y, 0), len(self.facts.brokers)
        columns = min(max(-(-count // max(rows, 1)), 1), max(self._size[0] // CHIP, 1))
        width = self._size[0] // columns
        shown = {node.key for node in sorted(self.facts.brokers, key=self._matters)[: rows * columns]}
        for place, node in enumerate(one for one in self.facts.brokers if one.key in shown):
            text = " ".join(filter(None, (f"b{_number(node)}", "★" * node.is_controller, *state_words(node))))
            link = {"cut": " X", "slow": " ~"}.get(node.link or "", "") if node.state != CUT_OFF else ""
            x, line = place % columns * width, y + place // columns
            self._token(node, x, line, (text + link)[: (width if width < WIDE_CHIP else NAMED) - 2])
            if width >= WIDE_CHIP:
                self._canvas.write(x + NAMED, line, self._shares(node, width - NAMED - GAP)[0], x + width)
        return y + -(-len(shown) // columns)

    def _matters(self, node: SandboxNode) -> tuple[bool, bool, bool]:
        return node.key != self.chosen, not node.is_controller, node.is_well

    def _wire(self, form: PictureScale, boxes: Sequence[Box], y: int, *, is_first: bool) -> None:
        """The line from which a row of brokers hangs, and how it is tied to the servers."""
        if form.link == 0:
            return
        canvas, centres = self._canvas, [box.centre for box in boxes]
        if is_first:
            feet = [spot.x + spot.width // 2 for spot in self.spots if spot.y < y] if form.top else []
            feet = feet or [self._size[0] // 2]
            for foot in feet:
                canvas.wire(foot, y - 1 if form.top else y, foot, y)
            centres += feet
        else:
            left = 0
            canvas.wire(left, self._trunk, left, y)
            canvas.wire(left, self._trunk, min(centres), self._trunk)
            centres.append(left)
        canvas.wire(min(centres), y, max(centres), y)

    def _link(self, node: SandboxNode, box: Box, length: int) -> None:
        """The line between a broker and who is above it, as it is; dashed where no session is left."""
        top = box.y - length
        self._canvas.wire(box.centre, top - 1, box.centre, box.y if length else top)
        sign, style, word = LINKS.get(node.link or "", ("│", "ok", "") if node.has_session else ("╎", "dim", ""))
        for y in range(top, box.y):
            self._canvas.put(box.centre, y, sign, style)
        self._canvas.put(box.centre + 2, top, word, style)

    def _broker(self, node: SandboxNode, box: Box) -> None:
        self._node_box(node, box)
        fill = self._ink(node)
        for line, parts in enumerate(self._told(node, box.width - 4, box.height - 2)):
            self._write(box, line, parts, fill)

    def _told(self, node: SandboxNode, width: int, room: int) -> list[list[Span]]:
        """What its box says, the most important first where there is little room."""
        if room == 1:
            words = f"leads {node.leads:,}  {node.in_sync:,}/{node.replicas:,}"
            return [[*state_line(node), span("  " + words, "dim")]]
        session = session_lines(node.session, width)
        led, synced = self._shares(node, width)
        links = [[span(node.links, "warn")]] if node.links else []
        where = [[span(node.where, "dim")]] if 0 < len(node.where) <= width else []
        if session and room < 4:
            return [state_line(node, f"leads {node.leads:,}"), *session][:room]
        if node.links and room < 4:
            return [state_line(node, f"leads {node.leads:,}"), *links, synced][:room]
        return [state_line(node), *session, led, synced, *links, *where][:room]

    def _shares(self, node: SandboxNode, width: int) -> tuple[list[Span], list[Span]]:
        """What it leads, beside the most that one broker leads, and how much of what it holds is in sync."""
        most = max((len(f"ISR {one.in_sync:,}/{one.replicas:,}") for one in self.facts.brokers), default=0) + 1
        missing = node.replicas - node.in_sync
        led = [span(f"leads {node.leads:,}".ljust(most), "dim")]
        led += [span(share_bar(node.leads, self.facts.most_leaders, width - most), "leader")]
        synced = [span(f"ISR {node.in_sync:,}/{node.replicas:,}".ljust(most), "out" if missing else "dim")]
        return led, [*synced, span(share_bar(node.in_sync, node.replicas, width - most), "out" if missing else "isr")]

    # Clients

    def _clients(self, form: PictureScale, y: int) -> None:
        if form.client:
            self._client_boxes(form, y)
            return
        y = max(min(y, self._size[1] - self._clients_height(form)), 0)
        if self.facts.producer is not None:
            x = self._line_of([self.facts.producer], y)
            self._canvas.write(x + 1, y, [part for line in produced(self.facts.load) for part in (*line, span("  "))])
            y += 1
        for group in self.facts.groups:
            if y >= self._size[1] - (self._height(form) > self._size[1] - self._head):
                return
            x = self._canvas.put(1, y, f"{group.name} ", "name", self._size[0] // 3)
            x = self._line_of(group.members, y, x)
            self._canvas.write(x + 1, y, group_words(group))
            y += 1

    def _client_boxes(self, form: PictureScale, y: int) -> None:
        facts, room = self.facts, self._size[0]
        count = len(facts.groups) + (facts.producer is not None)
        if not count:
            return
        columns = max(min((room + GAP) // (CLIENT + GAP), count), 1)
        width = max(min((room + GAP) // columns - GAP, 44), 1)
        x0 = max((room - columns * (width + GAP) + GAP) // 2, 0)
        boxes = [
            Box(x0 + n % columns * (width + GAP), y + 2 + n // columns * (form.client + 2), width, form.client + 2)
            for n in range(count)
        ]
        self._wire_clients(boxes[:columns], y)
        if facts.producer is not None:
            box = boxes.pop(0)
            self._node_box(facts.producer, box)
            for line, parts in enumerate(produced(facts.load, facts.producer)):
                self._write(box, line, parts, self._ink(facts.producer))
        for group, box in zip(facts.groups, boxes, strict=True):
            self._canvas.box(box, f"group {group.name}", "rule", title_style="name")
            x = box.x + 1
            for node in group.members:
                if x + cells(plain(node.name)) + 3 <= box.x + box.width - 1:
                    x = self._token(node, x, box.y + 1, node.name)
            self._write(box, 1, group_words(group), "")
            if group.counts is not None:
                self._write(box, 2, [span(f"{group.counts.owned:,} partitions owned", "dim")], "")
        if facts.load is not None and facts.groups:
            self._canvas.put(
                x0 + (columns - 1) * (width + GAP), y + 1, f"read {facts.load.consumed_per_s:,.0f}/s", "dim"
            )

    def _wire_clients(self, boxes: Sequence[Box], y: int) -> None:
        """Brokers of the last row to the clients' line, and from there to their boxes."""
        canvas = self._canvas
        last = {spot.y for spot in self.spots if spot.key.startswith("broker ")}
        hanging = [spot for spot in self.spots if last and spot.y == max(last)]
        nodes = {node.key: node for node in self.facts.brokers}
        centres = [spot.x + spot.width // 2 for spot in hanging]
        for spot, centre in zip(hanging, centres, strict=True):
            canvas.wire(centre, y - 1, centre, y)
            status = nodes[spot.key].to_clients
            if status in ("cut", "slow"):
                canvas.put(centre, y - 1, "X" if status == "cut" else "┆", "error" if status == "cut" else "warn")
        for box in boxes:
            canvas.wire(box.centre, y, box.centre, box.y)
        everyone = centres + [box.centre for box in boxes]
        canvas.wire(min(everyone), y, max(everyone), y)

    # Boxes

    def _node_box(self, node: SandboxNode, box: Box) -> None:
        is_chosen = bool(node.key) and node.key == self.chosen
        fill, title = self._ink(node), _named(node, box.width - TITLE)
        frame = fill or ("key" if is_chosen else style_of(node) if not node.is_well else "rule")
        if fill:
            self._canvas.fill(box, fill)
        self._canvas.box(box, title, frame, is_double=is_chosen, right=node.rack, title_style=_title_style(node, fill))
        self._spot(node, box)

    def _ink(self, node: SandboxNode) -> str:
        """What fills its box; nothing where it is well or there are no fills."""
        return FILLS.get(node.state, "cell-dead") if self._is_filled and node.state else ""

    def _write(self, box: Box, line: int, parts: Sequence[Span], fill: str) -> None:
        self._canvas.write(
            box.x + 2, box.y + 1 + line, [(text, fill or style) for text, style in parts], box.x + box.width - 1
        )

    def _spot(self, node: SandboxNode, box: Box) -> None:
        if node.key:
            self.spots.append(Spot(node.key, *box))


def _title_style(node: SandboxNode, fill: str) -> str:
    return fill or ("controller" if node.is_controller else "strong")


def _named(node: SandboxNode, room: int) -> str:
    """With the controller's mark; `c101` for `controller 101` where there is no room."""
    name = f"{node.name} ★" if node.is_controller else node.name
    if cells(plain(name)) <= room or not node.name[-1:].isdecimal():
        return name
    return f"{node.name[:1]}{_number(node)}{'★' * node.is_controller}"


def _number(node: SandboxNode) -> str:
    return node.name.rpartition(" ")[2]
