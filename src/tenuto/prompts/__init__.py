"""What models are asked, as text files that a reader can edit."""
