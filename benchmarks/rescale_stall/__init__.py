"""How long does training stand still when workers join or leave? Three ways, in one run.

    python -m benchmarks.rescale_stall [--rounds 5] [--models small large]

*ours*: rescaled by the runtime while it trains. *cold*: checkpoint, stop all, start all.
*torchrun*: its elastic agents with c10d rendezvous, time-outs tuned. All make the same changes
(1 -> 2 -> 3 -> 2 -> 1 workers) of the same model with Adam at the same global batch, one after the
other in every round, so that they meet the same load of the machine.

The *stall* of a change is the longest time between two steps round it, less the median step (before
or after, whichever is longer: fewer workers take longer for the same batch); with several survivors
that of the worst. Beside it: the same in steps, and less the median step before only; leaving is
judged by both. From fewer than five rounds no verdict is drawn.

contender       what each way of rescaling does in a round
elastic_script  the training as a script of this runtime
plain_script    the training in plain PyTorch with a checkpoint of its own
timeline        when each step was made
results         what the rounds found, and whether it meets the targets
"""
