"""The verbs of the command line, one module per kind.

- `submitting`: `init`, `submit`, `validate`, `wait`, `run`, `edit`, `rerun`, `code`, `arrays`,
  `schedules`: jobs are made
- `specs`: `rules`, `templates`: what specs have to be, and may begin with
- `inspect`: `ps`, `describe`, `explain`, `usage`: which jobs there are, and why they are so
- `diff`: in what two jobs differ
- `dashboard`: `open`
- `installation`: `teams`, `pools`, `nodes`, `cordon`, `drain`, `uncordon`, `admin`,
  `context`, `simulate`, `price`
- `control`: `pause`, `resume`, `cancel`
- `logs`, `top`: what is watched
- `shells`: `exec`: a command beside a worker
- `team`: `data`, `members`, `quota`, `limits`, `secrets`, `tokens`, `webhooks`, `network`,
  `storage`, `retention`
- `results`: `outputs`, `checkpoints`, `models`, `metrics`, `tensorboard`: what jobs leave behind
- `removal`: `delete`, `pin`, `unpin`
- `login`: `login`, `whoami`: who one is
- `verbs`: all of them by name, each loaded when it is used
- `completion`: which jobs a half-typed word may mean
- `options`: the options and arguments that several commands share
"""
