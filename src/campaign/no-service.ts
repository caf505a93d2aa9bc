import type { Downloads, Service } from '../contract/ports.ts';

/** A plan without orders asks nothing of the service. */
export const noService: Service & Downloads = {
  replays: () => false,
  clockAheadMs: unasked,
  create: unasked,
  newestJob: unasked,
  walkJobs: unasked,
  watch: unasked,
  open: unasked,
  upload: unasked,
};

function unasked(): never {
  throw new Error('internal error: the plan has no work for the service');
}
