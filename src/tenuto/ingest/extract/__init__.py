"""From what was said to candidates: by rules, or by a model whose proposals are checked."""
