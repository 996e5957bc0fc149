"""How is a simulation run from a terminal? By `concertina-simulate`.

command     the command itself: one workload, several policies, side by side
options     what each option means, and which values it may have
refusal     what is said of a command line that cannot be carried out
request     the cluster and the policies that a command line names
workload    the workload that it names, and which part of it
tick        how often plans are made where nobody says
parallel    runs several simulations at once, each in a process of its own
progress    how far they are, how much longer it takes, and where that is shown
table       shows a comparison in a terminal
"""
