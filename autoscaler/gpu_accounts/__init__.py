"""Who used, lent and borrowed how much GPU time? Accounts that add up, kept for ever.

admin       how admins say what GPUs cost
apps        this Django application
checking    do the accounts still add up, and of which hours is something not known?
retention   what of the recordings may be forgotten once it is accounted for
closing     brings hours that are over into the accounts
months      which month is over, and that teams were told so, once each
owing       what each tick writes down of what teams were owed and not given
pricing     how prices of GPU-hours are set and taken back, each from a day on
recording   what each tick writes down: who holds what, what there is, what is promised
reading     how much was whose, in a time, as asked
models      the recordings and the accounts
arithmetic  from recordings of one hour to its accounts: pure
"""
