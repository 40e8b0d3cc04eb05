"""Moments past, which one is meant and what it looked like; what recordings tell of days and months."""
