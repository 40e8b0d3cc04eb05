"""A KRaft cluster as its metadata log tells it, followed live at its controllers."""
