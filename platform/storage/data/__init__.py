"""Which data may jobs be given, and where does it lie? An admin says so once; specs name it.

rules    below which folders data may lie
folders  one kind of source: a folder that nodes see
kinds    which kinds there are; a new one is a module beside `folders` and a line there
sources  what the database knows of them, and where a job finds one
"""
