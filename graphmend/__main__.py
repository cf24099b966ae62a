"""`python -m graphmend`."""

from graphmend.cli import main

if __name__ == "__main__":
    main()
