"""The nouns: frozen, typed, without behaviour beyond parsing and evolving. ``docs/glossary.md`` defines each word."""
