"""What does one job look like?

- `description`: whole; `explanation`: a decision about it
- `difference`: in what two differ; `arrays`, `sweeps`: how those of one spec stand
- `size_advice`: how many workers it needed
- `changes`: what was changed of it; `usage`: what its workers take
"""
