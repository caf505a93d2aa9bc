import { randomUUID } from 'node:crypto';
import type { Submission } from '../../../src/cluster/runs/run-record.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';

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
    settings: {
      concurrency: 10,
      onError: 'continue',
      onUnknown: 'ask',
      creditWaitMs: 0,
      createTimeoutMs: 7000,
      requestTimeoutMs: 5000,
    },
    totals: {} as Submission['totals'],
    header: { orders: 0 } as Submission['header'],
    seal: makeSeal('key'),
    origin: { host: 'here', user: 'me', manifest: 'campaign.yaml', version: '0.1.0' },
    store,
    orders: [],
    lines: [],
  };
}
