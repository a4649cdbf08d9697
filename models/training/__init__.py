"""How the networks are made: scenes traced, pictures taken, a network trained, exported and described. Needs the extra `train`."""
