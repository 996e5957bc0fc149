"""What is Docker told of a launch, and what does it tell of a container?

`containers` says as what kind of container a launch runs, `blueprints` puts the whole order
together: `labels`, `secrets_file`, `node_memory`. Before it, `images` are fetched and `networks`
made as `job_network` says, by one thread at a time (`keyed_locks`). `observing` reads the answer.
"""
