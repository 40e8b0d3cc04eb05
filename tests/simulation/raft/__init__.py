"""Histories of a KRaft quorum."""
