"""Widgets that are fed by the data process: they ask for what they show, and ask again when something changed."""
