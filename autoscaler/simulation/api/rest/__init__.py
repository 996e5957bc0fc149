"""Which addresses lie under /api/v1/simulations?

urls            which address leads to which endpoint
views           the endpoints: ask for a simulation, follow it, read it, give it up
requests        what may be asked of a simulation
serializers     what an answer looks like
"""
