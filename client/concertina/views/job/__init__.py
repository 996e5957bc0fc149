"""What does one job look like?

- `description`: whole; `explanation`: a decision about it
- `changes`: what was changed of it; `usage`: what its workers take
"""
