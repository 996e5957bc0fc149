"""What does a process of a job see of the world? `Surroundings` says, for each kind of host.

`machine` for processes of the machine itself, `containers` for those that see their container only.
"""
