"""What a list has to say to the screen it is on. Messages only; `LineView` and `TreeLines` send them."""

from textual.events import Event
from textual.message import Message
from textual.widget import Widget


class ListMessage(Message):
    """Something one list says; `@on(RowSelected, "#brokers")` hears one list only."""

    def __init__(self, view: Widget) -> None:
        super().__init__()
        self.view = view

    @property
    def control(self) -> Widget:
        return self.view


class Latest(ListMessage):
    """A message that makes an earlier one of its kind from the same list pointless."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self) and isinstance(message, Latest) and message.view is self.view


class WindowWanted(Latest):
    """These rows are due now, and again with every change of the data, until other ones are wanted.

    `key` is the row that the cursor is on or should go to; the answer says at which index it is now.
    """

    def __init__(self, view: Widget, first: int, count: int, key: str) -> None:
        super().__init__(view)
        self.first = first
        self.count = count
        self.key = key


class RowHighlighted(Latest):
    """The cursor came to stand on another row; an empty key: there is no row any more."""

    def __init__(self, view: Widget, key: str, index: int) -> None:
        super().__init__(view)
        self.key = key
        self.index = index


class RowSelected(ListMessage, Event):
    """The operator opened a row. The screen has done what it means before the next key is looked at."""

    def __init__(self, view: Widget, key: str, index: int) -> None:
        super().__init__(view)
        self.key = key
        self.index = index


class NodeMessage(ListMessage):
    """Something about one node of a tree."""

    def __init__(self, view: Widget, key: str) -> None:
        super().__init__(view)
        self.key = key


class OpenNode(NodeMessage):
    """The children of this node should be shown."""


class CloseNode(NodeMessage):
    """The children of this node should be hidden."""


class ParentWanted(NodeMessage):
    """The cursor should go to the parent of this node, which is not among the rows held: `seek` it by its key."""
