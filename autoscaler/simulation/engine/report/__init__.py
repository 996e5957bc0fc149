"""How is a comparison of policies shown? As one HTML file that needs nothing else, or as values.

page      the file for a browser without a network
charts    which pictures show how policies differ
style     what the page looks like
document  the same as plain values, for programs
"""
