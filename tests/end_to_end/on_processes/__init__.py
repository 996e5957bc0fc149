"""Jobs run as processes of this machine, as in `./dev up`."""
