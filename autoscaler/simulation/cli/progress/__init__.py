"""How far are the simulations of a command, and where is it shown?

line       where and how often it is shown
---
pace       how far all are, and how much longer they take together
---
remaining  how much longer one of them takes
"""
