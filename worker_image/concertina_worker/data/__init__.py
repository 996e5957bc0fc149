"""Which samples does a worker compute, and how do they become its micro-batches?"""
