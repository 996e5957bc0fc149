"""The service runs in containers too, as `docker compose up` starts it."""
