"""The group coordinator: what follows when a consumer group's member joins, syncs, commits, leaves or falls silent."""
