"""How does an explanation read? One sentence for each fact, made of values and nothing else.

    rendering            the whole explanation of one job
    waiting_sentences    why it waits, or was refused
    change_sentences     why its size changes
    pool_sentences       what each of its pools offered, where it may be in several
    straggler_sentences  which slow worker was replaced, or why it was not
    deadline_sentences   that it will miss its deadline
    remedy_sentences     what would let it start
    batch_sentences      what the gradient noise makes of a range of batches
    wording              numbers, names and plurals

All other modules may use `wording`.
"""
