"""What does a list of something that a team has look like?

- `audit`: who did what, and who was refused
- `members`: who is in it
- `limits`: how many of its jobs run, and its GPU-hours of a month
- `quotas`: what it may use of each pool
- `quota_replays`: what the recent past would have been with other quotas
- `receipt`: what it was owed and not given, and why
- `report`: what it held and pays in a month
- `schedules`: what it has submitted again and again
- `secrets`: what only its jobs may know
- `tokens`: which keys its programs have
- `webhooks`: who is told what happens to its jobs
"""
