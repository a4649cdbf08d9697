"""Frames -> discs (where, what, how sure) -> tracks -> contacts -> stroke facts and incidents."""
