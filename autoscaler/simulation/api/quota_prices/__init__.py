"""What is a team's guarantee worth to it? The past, replayed with some GPUs more and some fewer.

asking      writes down that somebody wants to know, unless there is an answer
variations  which clusters are compared: the guarantee with more GPUs, with fewer, without borrowing
execution   carries out the replays
"""
