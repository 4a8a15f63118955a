// A library that only links a store, for whoever links it.
