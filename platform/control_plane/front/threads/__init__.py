"""Which thread answers a request, and who waits for one?

bulkheads           through which lanes a request goes, by its kind
lanes               a few threads, which callers take in turn
turns               whose turn it is
remembered_health   how the service is, told without a thread
delivery            does the client read its answer?
processor_shares    has this group had its share of the processor?
processor_pressure  are processors short?
"""
