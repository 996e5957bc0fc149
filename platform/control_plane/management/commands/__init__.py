"""Commands of `manage.py` for the installation.

bootstrap  makes a new installation usable
migrate    changes the schema beside a running service, with bounds of time
"""
