"""One answer from three witnesses: what results, moves and a learned model say of a player's strength, joined."""
