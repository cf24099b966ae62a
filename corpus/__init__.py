"""Programs that graphmend is measured on: real models, by config, and small break patterns."""
