"""Channels: each adapter turns what arrives into an :class:`tenuto.records.channel.Envelope` and nothing more."""
