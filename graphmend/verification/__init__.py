"""Original and mended program side by side, compared in everything a user could notice."""
