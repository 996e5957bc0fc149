"""The endpoints that need several applications at once, which may not import one another."""
