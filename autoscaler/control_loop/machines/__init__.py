"""Which pools ask their cluster for machines, and which nodes do they give back?

asking          brings together what the plan says, what runs where, and what the cluster has
one_more_node   which jobs would start if a pool had one more node
"""
