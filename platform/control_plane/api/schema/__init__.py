"""How does OpenAPI describe the service?

operations        drf-spectacular's generator, taught our errors
limits            what may be asked how often
plain_parameters  what no text of an address may contain
view              the description itself, written once
"""
