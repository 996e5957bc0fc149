"""What follows when workers or nodes fail, are silent or slow?

release         workers that have ended give their GPUs back, and their end is counted
losses          what follows when no worker is left to go on
worker_end      how a worker ended, and in which words
hung_workers    kills workers that run on though the others went on without them
silent_nodes    leaves workers behind whose node does not answer
slow_nodes      warns of nodes that produce straggler after straggler
"""
