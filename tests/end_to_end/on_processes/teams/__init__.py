"""What the page of a team shows, and what may be changed there."""
