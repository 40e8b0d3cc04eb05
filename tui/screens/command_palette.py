"""Textual's palette, but for keys that come while its list has no room yet, or none at all. It knows no command."""

from textual.command import CommandList, CommandPalette


class KdrillPalette(CommandPalette):
    """See CommandPalette."""

    def _action_command_list(self, action: str) -> None:
        """A page up or down looks for a line of the list, and fails where there is none."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
