"""A cluster that is only a tree: invented state and what happens to it, until real brokers take its place."""
