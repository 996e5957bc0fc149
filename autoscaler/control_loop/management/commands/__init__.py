"""Commands of `manage.py` for the control loop.

contradictions  whether the database contradicts itself
"""
