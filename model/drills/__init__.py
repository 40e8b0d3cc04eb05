"""What if: scenarios played on a copy of a cluster, by the controller's own rules, in virtual time.

Nothing here decides what a controller does, touches a live cluster or reads a clock.
"""
