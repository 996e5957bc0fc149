"""Which generation is this worker in, and how does it get into the next one?"""
