"""What happens to a user, told to whoever follows along: in order, without gap and without double."""
