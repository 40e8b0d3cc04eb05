"""What a dashboard proposes to do to a live cluster, and carries out once it was confirmed."""
