"""Many plans at once, and what drills say of a cluster before and after a plan."""
