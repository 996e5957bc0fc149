"""Commands of `manage.py` for the control loop."""
