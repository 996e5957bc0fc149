"""What may a user ask for? The job spec, how it is read, and what is said about a wrong one.

job_spec       the whole spec: every field, its type, its bounds and its default
stored_spec    specs that an earlier version accepted, read again from the database
stored_fields  where a field is in what the database stores
bulk           the specs of many jobs, sent as one
arrays         the field `array`: many jobs of one spec, each with other values
changes        what of a spec may be changed while its job lives
batch          the field `batch`: the global batch and what may vary about it
parts          the other fields that have parts of their own
rules          what a team says of the specs of its jobs: rules and templates
feasibility    do the ranges of a spec fit together?
names          which names and texts are allowed
quantities     durations and sizes with their unit
timestamps     moments with their time zone
problems       what is wrong with a spec, in words
part           what all parts of a spec have in common
"""
