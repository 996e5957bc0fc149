"""Commands of `manage.py` for teams.

reseal_secrets  brings all secrets under the newest secret key
"""
