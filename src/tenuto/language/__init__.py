"""What words mean: sentences, times, names, wishes, todos, facts. Pure: text in, values out."""
