"""What did a job leave behind? Listed, downloaded, and deleted.

outputs      the files that it wants to hand over
checkpoints  the states from which it, or another job, goes on
removals     what of it goes when
log_files    all that is kept of its log, as a file
metrics      its curves as a table
ranges       by which headers a part of a file is asked for
downloads    a file or an archive as an answer of any size
"""
