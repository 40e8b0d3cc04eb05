"""One module for each kind of input: how a case is made, what is done with it, what must hold."""
