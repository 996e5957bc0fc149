"""What will become of the live jobs? The simulator looks ahead from where the loop stands."""
