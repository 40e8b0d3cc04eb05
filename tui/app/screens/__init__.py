"""The screens: which panes stand where, and what one pane's selection means for another. Fetch and decide nothing."""
