"""The data process: holds the source and the image, sorts, filters and plots; the UI process only draws what it sends.

Imports no textual. Everything here also runs inside one process, as tests and `kdrill status` do.
"""
