"""What is there beside jobs? Each is asked once in a tick.

process_table   which processes the worker host has; all orders to it go through here
surroundings    teams, pools and nodes, which all that is read of jobs shares
"""
