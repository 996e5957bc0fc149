"""Worker processes that are only simulated: a thousand jobs on a laptop, without torch.

The service, its protocol and its planner are the real ones; what is made up is the training.

- `kind`: how the kind is chosen, and which of its nodes run real processes nevertheless
- `host`: the port to the processes
- `conversation`, `documents`: how the service talks with the simulator, and in which words
- `simulator`: the program in which all simulated processes live
"""
