"""Everything that changes jobs on somebody's request. Commands are functions with keywords only.

`submission` accepts new jobs, `control` cancels, pauses and resumes them, `sync` records what a
job's coordinator reports, `retention` deletes what is old.
"""
