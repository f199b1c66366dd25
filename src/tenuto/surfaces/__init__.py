"""How people and programs reach Tenuto: each surface parses, calls one verb and renders."""
