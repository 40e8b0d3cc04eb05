"""The engine: holds the source and the image, answers questions about them with rows and texts, and plots.

It imports no Textual. `python -m tui.engine` is the data process, which the dashboard starts and asks over a pipe;
everything here also runs within one process, as in tests and `kdrill status`. The vocabulary of rows, text, keys and
settings that the engine shares with the app and the commands is here, too.
"""
