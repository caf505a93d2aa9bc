/**
 * Version of what submitters, heads and hands tell each other through tables and queues. Part of the queues' names: a worker
 * of another version takes nothing.
 */
export const protocol = 1;
