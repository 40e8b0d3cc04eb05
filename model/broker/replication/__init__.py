"""A follower's side of replication: what to fetch where, where logs part, what errors mean. It moves no records."""
