"""What may a team see and use?

teams    each team with its numbers, for its members and for others
quotas   what a team may use of each pool
secrets  which secrets a team keeps
models   checkpoints that it gave names
images   which images its jobs may run
"""
