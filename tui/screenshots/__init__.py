"""Pictures of the real program for the README: `python -m tui.screenshots`. Needs Pillow, which users do not."""
