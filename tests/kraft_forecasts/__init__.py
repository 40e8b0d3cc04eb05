"""Drills of KRaft clusters against what real ones become."""
