"""What is the state of a training, and how does it get to joiners, laggards and to disk?

- `training_state`: all that a joiner, a laggard or a resumed job must be given
- `several`: one view of one model and optimizer, or of many
- `optimizer_state`: what an optimizer remembers for each parameter
- `plain_names`: what a parameter is called, whatever is wrapped round the model
- `description`: whether two workers train the same
- `parts`: what takes the place of model and optimizer where each worker holds a part of them
- `handover`: how joiners get the state while the others train on; `portions` and `digest` say in
  which pieces, and which of them have changed since
- `recovery`: from whose state a fresh group goes on
- `transfer`: how a state travels, in both cases
- `checkpoints`: what lies on disk
"""
