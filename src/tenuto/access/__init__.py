"""Who may do what: keys, and what each of them opens."""
