"""How much of a bare endpoint's speed the server keeps."""
