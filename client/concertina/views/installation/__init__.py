"""What do people see of the whole installation?

- `cluster`: pools, nodes and teams
- `contexts`: which installations are known here
- `setups`: what would change of all that admins set up
- `simulation`: what was tried, and what came out
"""
