"""What does a team have, beside its jobs, and what did it use?

- `audit`: who did what, and who was refused
- `data`: `ls`, `add`, `put`, `rm`: which data jobs may name
- `gpu_hours`: `gpu-hours`, `fairness`, `report`: who used GPUs, was given its due, and pays
- `keeping`: `storage`, `retention`: what stays on disk, and for how long
- `members`: who is in a team, and in which role
- `network`: what a team's jobs may reach
- `limits`: how many of its jobs run, and its GPU-hours of a month
- `quotas`: what a team may use of each pool
- `tokens`: which keys a team's programs have
- `webhooks`: who is told what happens to its jobs
- `secrets`: what only a team's jobs may know
"""
