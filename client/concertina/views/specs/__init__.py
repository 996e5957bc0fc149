"""What does that look like which a team says of the specs of its jobs?

- `rules`: what each has to be
- `templates`: what each may begin with
"""
