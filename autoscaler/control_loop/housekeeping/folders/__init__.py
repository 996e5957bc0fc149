"""What does nobody need any more on the disk that jobs share?

leftovers         folders of jobs that were deleted, or ended long ago
last_checkpoint   what stays of a completed one: its last checkpoint
held_checkpoints  checkpoints that stay for those that start from them
unused_uploads    code and data that nobody refers to
unwanted_results  outputs and checkpoints that somebody deleted
"""
