"""What can be asked about the specs of a team's jobs?

- `rules`: what they have to be
- `templates`: what they may begin with
"""
