"""What did a person write, and what do they mean by it?

- `job_files`: a job file, with the line on which it says what
- `yaml_documents`: what YAML says, as far as JSON could say it
- `bulk_files`: a file with many jobs
- `setup_files`: all that admins set up, as a file
- `overrides`: `--set elastic.max_workers=8`
- `after`: `--after JOB`, for which jobs a new one is to wait
- `moments`: when, or how long ago
- `plain_values`: which values of a command line need no parser
- `references`: which job is meant: an id, a name, or `team/name`
- `unlimited`: a limit that is a number, or `none`
- `secret_input`: the value of a secret, from a prompt, standard input or a file
"""
