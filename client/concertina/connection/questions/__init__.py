"""What can be asked of the service that is not only about a team?

- `jobs`: which jobs there are, and what is known of one
- `installation`: its teams, pools and nodes
- `simulations`: what another policy or cluster would have meant
- `trials`: jobs of one spec, in arrays and sweeps
- `gpu_prices`: what a GPU-hour of each pool costs, from which day on
- `size_advice`: how many workers a job needed
- `setups`: all that admins set up
- `quota_replays`: what the recent past would have been with other quotas
- `specs`: what a team says of the specs of its jobs
- `schedules`: what teams have submitted again and again
- `personal_tokens`: which keys a person has
- `device_logins`: a key for this machine, if a person says yes in their browser
"""
