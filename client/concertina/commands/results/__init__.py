"""Which commands are there for what jobs leave behind?

outputs      what a script writes to be handed over
checkpoints  the states that a job can go on from
models       checkpoints that have names
curves       what it logged, for other programs and in TensorBoard
listing      how such a group lists without a verb
"""
