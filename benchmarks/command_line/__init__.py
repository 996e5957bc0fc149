"""How much processor time does a command of the command line take before anybody sees a word?

__main__  runs commands by turns against a service of its own
service   that service, with jobs to list
"""
