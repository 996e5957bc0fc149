"""One process per running job, outside its workers: it outlives them all.

It decides who trains together (`machine`), speaks with the workers (`server`) and with the
service (`service`), and keeps what it must not forget in a file (`state_file`). Standard library
only: it starts in an instant and costs a few megabytes. `python -m concertina_worker.coordinator`.
"""
