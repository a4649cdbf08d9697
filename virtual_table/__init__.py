"""A physical table with known truth, and a renderer that looks at it through a real camera model."""
