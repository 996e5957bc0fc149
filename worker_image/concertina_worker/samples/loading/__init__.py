"""How are micro-batches loaded ahead of the steps that use them?

- `prefetch`: what each step gets, from what was loaded ahead
- `requests`: which micro-batches will be needed next
- `reading`: how a request becomes a micro-batch, in the process that loads
- `loader_process`: what a process that loads must know of the worker that forked it
"""
