"""What does a rescale cost when samples are loaded ahead by other processes?

    python -m benchmarks.loading_stall --rounds 5

A sample takes 5 ms to load, a step 60 ms to compute; 1 → 2 → 3 → 2 → 1 workers, four ways in turn:

- ahead: three loading processes; a switch begins behind what is loaded, as the runtime does it;
- at once: the same, but a switch begins with the next step, and what is loaded is thrown away;
- cold: as ahead, but a newcomer starts its loading processes when it joins;
- in worker: no loading processes.

Prints the median and the longest stall of survivors, for joining and leaving.

script  the training
"""
