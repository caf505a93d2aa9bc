// Loaded before the command: it takes its pipes for a terminal at which a person sits.
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
