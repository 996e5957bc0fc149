"""On which machines do jobs in containers train? Three on one, and how they die.

- `cables`: connects network namespaces, each of which stands for a machine
- `machine`: one of them, with its Docker daemon
- `machines`: all of them, in one swarm
- `environment`: what the service must know of them
- `seen`: which processes containers have
- `earlier`: what a run left that was killed itself
"""
