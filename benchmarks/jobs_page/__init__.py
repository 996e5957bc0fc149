"""Do very many jobs stay fluid in a browser?

__main__  scrolls, filters and sorts the page of jobs of a service of its own
"""
