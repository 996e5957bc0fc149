"""How is a model trained of which each worker holds a part, while workers come and go?

    register        taking: may it be? Tried without values, before anybody waits
    a generation    laying_out: the script's `shard` lays the model out for its members
                    world: how `fully_shard` reaches them, and what it sees when one is lost
    a switch        parts: rows change hands between two steps
                    rows: which go from whom to whom; exchange: how, in bounded memory
    a checkpoint    in_files: which rows a worker writes and reads
    at any time     holding: what this worker has of the model and its optimizers

Loaded by scripts that shard only: PyTorch's own part of it takes a while.
"""
