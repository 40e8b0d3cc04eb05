"""The sandbox's processes, folder and first topics: set up, started, watched and ended. It breaks nothing."""
