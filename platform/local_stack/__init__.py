"""How does the whole service run on one machine? Embedded servers, a supervisor, and a demo.

- `entrance`, `command_line`, `__main__`: from `./dev COMMAND` to the function that answers
- `commands`: what a person asks of a stack, beside running it
- `set_up`: how a fresh checkout becomes one that runs
- `stack`: what a run of the stack does, from its start to its end
- `processes`: how one process or server is started, watched and stopped
- `containers`: how jobs of this checkout run in containers
- `demo`: what a newcomer watches first
- `chaos`: what the death of each component costs
- `soak`: what a service with a thousand running jobs costs, and whether that stays so
- `stack_record`: what is up at this moment, written down for everybody else to read
- `checkout`, `secrets_file`: where this checkout keeps its things, and its secrets
- `gpus`: which GPUs the machine has, or what stands for them
- `terminal`: how all this speaks to the person at the terminal
"""
