"""What is there beside jobs, and around a tick?

process_table     which processes the worker host has; all orders to it go through here
arrival           what a job still lacks of its data
garbage           memory is rarely looked through for garbage within a tick
cluster_records   teams, pools and nodes, which all that is read of jobs shares
"""
