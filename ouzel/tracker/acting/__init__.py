"""What changes a topology: a table of actions, the commands that do them, and the routes that ask for one."""
