"""Which workload does this recording hold? Pure functions from text to traces; callers open files.

    recording        what was read: a trace, its kind, and what was left out of it
    table            reads the cells of a CSV, and says which one is wrong
    json_text        reads JSON
    concertina_json  our own format, both ways
    concertina_csv   our own format, both ways
    pollux           workloads of the Pollux simulator
    inelastic        makes elastic jobs of those that ran on a cluster with fixed sizes
    cluster_log      a log of such a cluster, with a line per job
    philly_json      the log of Microsoft's Philly as it is published
    pai              the table of tasks of Alibaba's PAI as it is published
    history          rows of our own database

See docs/planning/traces.md.
"""
