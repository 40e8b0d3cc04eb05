"""A cluster as its brokers tell it: asked again and again, compared with what they said before. Nothing is written."""
