"""The dashboard in a browser on this machine: the server, its sessions, and what a session may not do."""
