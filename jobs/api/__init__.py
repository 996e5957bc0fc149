"""The REST endpoints about jobs."""
