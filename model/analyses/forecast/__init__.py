"""A year of a cluster by random histories: what is assumed, how it is drawn, played and counted."""
