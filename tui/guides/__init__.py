"""The documentation that comes with kdrill, as Markdown: `kdrill guide` lists it and prints it."""
