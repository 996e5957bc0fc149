"""How do this checkout's jobs run in containers? Which Docker, what it needs, and its end."""
