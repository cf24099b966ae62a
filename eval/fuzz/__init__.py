"""Generated programs: what mending does to each is compared with what the original does."""
