"""What time does: sessions close, summaries stand for messages, memories strengthen or fade."""
