"""The stack that `--host ray` starts: a cluster of Ray on this machine, of a head and two nodes."""
