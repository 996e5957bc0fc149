"""How is a simulation run from a terminal? By `concertina-simulate`.

command     the command itself: one workload, several policies, side by side
options     what each option means, and which values it may have
request     what a command line asks to simulate, as values of the simulation
parallel    runs several simulations at once, each in a process of its own
table       shows a comparison in a terminal
"""
