"""A small Kafka client of our own: metadata, log ends, descriptions, and any broker's answers. It produces and
consumes nothing.
"""
