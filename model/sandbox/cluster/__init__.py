"""The sandbox's processes and folder: how they are set up, started, watched and ended. It breaks nothing."""
