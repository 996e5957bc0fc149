"""WHAT is trained: job specs, the lifecycle, events, metrics. Writes in `commands`."""
