"""Every architecture of a library, built small without a recipe of its own, before and after."""
