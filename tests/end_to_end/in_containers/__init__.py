"""Jobs run in containers of a Docker daemon, as in `./dev up --host docker`."""
