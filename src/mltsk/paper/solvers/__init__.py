"""How consequents are found: Algorithm I as its authors run it, and the convex problem (24) to a certified optimum."""
