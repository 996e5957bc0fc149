"""How does the whole service run on one machine? Embedded servers, a supervisor, and a demo."""
