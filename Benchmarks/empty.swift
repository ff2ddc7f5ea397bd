// The floor of a process: a static Swift executable that does nothing.
