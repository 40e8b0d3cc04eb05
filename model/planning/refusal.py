"""Plans that cannot be made."""


class PlanError(ValueError):
    """No plan can do what was asked for; the message is one line that says why, and what could."""
