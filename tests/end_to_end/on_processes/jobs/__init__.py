"""Pages about jobs: how a few compare, and how a new one is asked for."""
