// Holds nothing: the headers that are read once for all tests need a source beside them.
