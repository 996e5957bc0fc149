"""Which data may jobs name, and how does a folder of it reach the service?

sources  what can be asked about the data that jobs may name
sending  a folder of it on its way, for both clients
folders  a folder as a stream of bytes
"""
