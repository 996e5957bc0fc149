"""The verbs of the command line, one module per kind.

- `submitting`: `submit`, `validate`, `wait`, `run`, `edit`, `rerun`, `code`: how jobs are made
- `inspect`: `ps`, `describe`, `explain`, `usage`: which jobs there are, and why they are so
- `cluster`: `teams`, `pools`, `nodes`
- `control`: `pause`, `resume`, `cancel`
- `logs`, `top`: what is watched
- `team`: `data`, `secrets`, `network`, `storage`, `retention`: what a team has
- `results`: `outputs`, `checkpoints`, `models`, `metrics`, `tensorboard`: what jobs leave behind
- `removal`: `delete`, `pin`, `unpin`
- `login`: who one is
- `options`: the options and arguments that several commands share
"""
