import type { Clock } from '../contract/clock.ts';
import { CampaignError } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import { advise, call } from '../plan/advice.ts';
import type { Access } from './environment.ts';

/** Time before which nobody is told, in ms: nobody wants to be told of what is done by then. */
const slowMs = 1000;

/** Ends a run before it has begun where the service cannot be reached, in seconds, and with what is tried in sight. */
export async function requireService(
  { baseUrl }: Access,
  { clock, tell, proxied }: { clock: Clock; tell: Tell; proxied: boolean },
): Promise<void> {
  // Then connections are made by somebody else.
  if (proxied) return;
  const { reachService } = await import('../service/reach.ts');
  const slow = setTimeout(() => tell({ is: 'connecting', text: new URL(baseUrl).host }), slowMs);
  const found = await reachService(baseUrl, {
    clock,
    onFailure({ host, error, tries, of }) {
      clearTimeout(slow);
      tell({ is: 'cannot reach', text: `${host}: ${error}; trying again (${tries + 1} of ${of})` });
    },
  });
  clearTimeout(slow);
  if (found.is === 'reached') return;
  throw new CampaignError({
    code: 'MB3203',
    message: `the service cannot be reached: ${found.host}: ${found.error}`,
    hint: advise`nothing was sent. Check MEDIABATCH_BASE_URL and the network; ${call('doctor')} looks at both`,
    host: found.host,
  });
}
