"""The command `concertina-simulate`: files, processes and a terminal around the simulation."""
