"""What may a team see and use?

teams      each team with its numbers, for its members and for others
limits     how many of its jobs may run, and its GPU-hours of the month
quotas     what a team may use of each pool
members    who is in it, and in which role
tokens     which keys its programs have
secrets    which secrets a team keeps
data       folders of data that it uploads
models     checkpoints that it gave names
images     which images its jobs may run
storage    how much its jobs keep on disk
retention  for how long it keeps what its jobs leave behind
"""
