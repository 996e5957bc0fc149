"""Where training happens: pools and nodes, and the worker hosts that run processes there."""
