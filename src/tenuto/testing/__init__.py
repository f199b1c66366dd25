"""What a back end of your own is tested with: the contract that every store keeps, and fakes."""
