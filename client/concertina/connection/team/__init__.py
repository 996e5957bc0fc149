"""What does the service know of a team, beside its jobs? Each is asked for by its own.

- `questions`: how a client comes by each of these
- `audit`: who did what, and who was refused
- `tokens`: which keys its programs have
- `gpu_hours`: GPU time that was used, lent and borrowed
- `keeping`: for how long jobs, and parts of them, are kept
- `limits`: how many of its jobs run, and its GPU-hours of a month
- `members`: who is in it, and in which role
- `networks`: what its jobs may reach
- `quotas`: what it may use of each pool
- `secrets`: what only its jobs may know
- `webhooks`: who is told what happens to its jobs
"""
