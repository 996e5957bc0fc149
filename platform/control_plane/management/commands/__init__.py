"""Commands of `manage.py` for the installation.

bootstrap       makes a new installation usable
migrate         changes the schema beside a running service, with bounds of time
reseal_secrets  brings all secrets under the newest secret key
"""
