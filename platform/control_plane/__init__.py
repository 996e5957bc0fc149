"""Wiring: settings, addresses, Celery, and the endpoints that need several applications."""
