"""`oreo demo`: the whole life of a change request on a throw-away root."""
