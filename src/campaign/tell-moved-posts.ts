import type { PlanRow } from '../plan/plan.ts';
import { sendsOf } from '../plan/post-record.ts';
import { countOf } from '../report/numbers.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { readOtherLocks } from './read-other-locks.ts';

const mostNamed = 5;

/**
 * Tells of posts that another campaign of the tree has sent, or may have: their task was moved here, or copied. Both may be
 * meant, and no lock says which, so it is said before they go out.
 */
export async function tellMovedPosts(campaign: OpenCampaign, rows: Iterable<PlanRow>): Promise<void> {
  const { service, paths, tell } = campaign;
  const leaving = [...rows].flatMap(({ address, order }) =>
    order === undefined ? [] : [{ address, fingerprint: order.fingerprint }],
  );
  if (service === undefined || leaving.length === 0) return;
  const sent = new Map<string, string>();
  for (const { shown, lock } of await readOtherLocks(paths, service)) {
    for (const record of lock.steps.values()) {
      for (const { fingerprint, jobId } of sendsOf(record)) {
        sent.set(fingerprint, `${record.address} of ${shown} ${jobId === undefined ? 'may be' : 'is'} this very post`);
      }
    }
  }
  const found = leaving.flatMap(({ address, fingerprint }) => {
    const known = sent.get(fingerprint);
    return known === undefined ? [] : [`${address} (${known})`];
  });
  if (found.length === 0) return;
  const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : '';
  const text = `${countOf(found.length, 'post')} may be out already, sent by another campaign: ${found.slice(0, mostNamed).join(', ')}${more}`;
  const hint =
    'where the task was moved here, do not publish it: look at its accounts, and take it out of this manifest';
  tell({ is: 'notice', text, hint });
}
