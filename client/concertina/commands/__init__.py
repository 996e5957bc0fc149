"""The verbs of the command line, one module per kind.

- `submitting`: `submit`, `validate`, `wait`, `run`, `edit`, `rerun`, `code`: how jobs are made
- `inspect`: `ps`, `describe`, `explain`, `teams`: what is there, and why
- `control`: `pause`, `resume`, `cancel`
- `logs`, `top`: what is watched
- `data`: `ls`, `add`, `rm`: which data jobs may name
- `results`: `outputs`, `checkpoints`, `models`, `metrics`, `tensorboard`: what jobs leave behind
- `removal`: `delete`, `pin`, `unpin`; `keeping`: `retention`
- `network`: what a team's jobs may reach
- `login`, `secrets`: who one is, and what only a team's jobs may know
- `options`: the options and arguments that several commands share
"""
