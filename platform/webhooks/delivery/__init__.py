"""How does a delivery reach its webhook? It is claimed, called for, and noted; if not, again later.

rounds    what is due is sent for a while, a bounded number at once
claims    which are due, and what came of them: the only place that writes it
calls     one call: where it may go, how long it may take, what counts as delivered
mail      a message for the mail server
problems  why a call failed, in words that give nothing away
"""
