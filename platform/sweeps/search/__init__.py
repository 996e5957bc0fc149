"""Which values are tried, and which trials go on? Pure.

- `draws`: which values does each trial have?
- `terms`: what the field `sweep` of a spec says
- `halving`: who goes on from a rung, and who is stopped?
"""
