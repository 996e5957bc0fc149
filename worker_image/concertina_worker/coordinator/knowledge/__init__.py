"""What does the coordinator know?

- `crew`: the workers that are there now; this is lost with the process
- `memory`: what must not be forgotten; this is written to the state file
- `reports`: what the service has not been told yet
- `report_size`: how much of that fits into one report
"""
