"""What can be asked about teams?

- `members`: who is in one, and in which role
- `networks`: what its jobs may reach
- `keeping`: for how long its jobs, and parts of them, are kept
- `gpu_hours`: GPU time that was used, lent and borrowed
"""
