"""The group coordinator as a part of a live broker: groups, their timers, their records, and what members ask."""
