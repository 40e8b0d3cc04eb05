"""A broker that keeps no logs: it rules, and sends those who ask for data to others."""
