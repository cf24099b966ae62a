"""graphmend's version; the build reads it from here, so that asking for it imports nothing."""

__version__ = "0.1.0"
