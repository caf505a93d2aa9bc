import { randomUUID } from 'node:crypto';
import type { Submission } from '../../../src/cluster/run-record.ts';

/** A run with nothing to do. */
export function submission({
  account,
  campaign = 'spring',
  store = null,
}: {
  account: string;
  campaign?: string;
  store?: string | null;
}): Submission {
  return {
    id: randomUUID(),
    account,
    campaign,
    sandbox: false,
    settings: {
      concurrency: 10,
      onError: 'continue',
      onUnknown: 'ask',
      creditWaitMs: 0,
      createTimeoutMs: 7000,
      requestTimeoutMs: 5000,
    },
    totals: {} as Submission['totals'],
    header: {} as Submission['header'],
    origin: { host: 'here', user: 'me', manifest: 'campaign.yaml' },
    store,
    orders: [],
    lines: [],
  };
}
