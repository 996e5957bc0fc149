"""What do the files of jobs cost those who send, start and list them?

__main__  sends code, starts a process beside it, and lists outputs, on a service of its own
"""
