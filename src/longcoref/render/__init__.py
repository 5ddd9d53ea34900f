"""What a result looks like: one file per output format."""
