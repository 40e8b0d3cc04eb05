"""What goes wrong with recordings."""


class RecordingError(Exception):
    """A recording that cannot be read or written; the message is one line that names the file and the way out."""
