/**
 * Version of the data that submitters, heads and fetch workers exchange through tables and queues. Part of the queue
 * names, so that workers of another version get no jobs.
 */
export const protocol = 1;
