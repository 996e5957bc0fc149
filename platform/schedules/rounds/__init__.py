"""What is due is recorded, then submitted, every few seconds; bounded, and teams take turns.

- `one_round`: the whole round
- `recording`: a time that is due becomes a run, and the schedule moves on, before all else
- `trying`: a run that waits is submitted, or comes to another end
- `endings`: how a run ends, and what that means for its schedule
"""
