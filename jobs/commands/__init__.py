"""What changes jobs on somebody's request? Commands are functions with keywords only.

submission    accepts new jobs
submission_span  tells how long that took, for whoever traces it
team_stock    what a team has already, and whether there is room for more
rules         changes what a team says of specs: its rules and its templates
control       cancels, pauses and resumes them
editing       changes what a live job asks for, and runs one again
pinning       keeps jobs for ever that their team has pinned
quarantine    leaves jobs out of planning or predictions whose data make it fail
predictions   keeps predictions, and compares them with what came true
remedies      keeps what would start a waiting job
usage         keeps what workers take of their nodes, and rolls it up
observations  records what a coordinator reports
removal       deletes jobs, teams and what is old
"""
