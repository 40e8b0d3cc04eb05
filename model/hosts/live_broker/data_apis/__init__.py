"""Answers to requests for data, and to those of the controller, from what `replicas` does. It decides nothing."""
