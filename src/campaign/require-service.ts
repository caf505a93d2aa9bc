import type { Terminal } from '../cli/terminal.ts';
import type { Clock } from '../contract/clock.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { advise, call } from '../plan/advice.ts';
import { safeText } from '../report/safe-text.ts';
import type { Access } from './environment.ts';

/** Nobody wants to be told of what is done by then. */
const slowMs = 1000;

/** A service that cannot be reached ends a run before it has begun, in seconds, and with what is tried in sight. */
export async function requireService(
  { baseUrl }: Access,
  { clock, terminal }: { clock: Clock; terminal: Terminal },
): Promise<void> {
  // Then connections are made by somebody else.
  if (process.env.NODE_USE_ENV_PROXY !== undefined) return;
  const { reachService } = await import('../service/reach.ts');
  const slow = setTimeout(() => terminal.err(`connecting to ${safeText(new URL(baseUrl).host)} …\n`), slowMs);
  const found = await reachService(baseUrl, {
    clock,
    onFailure({ host, error, tries, of }) {
      clearTimeout(slow);
      const text = `${host}: ${error}; trying again (${tries + 1} of ${of})`;
      terminal.err(`${terminal.style.yellow('cannot reach')} ${safeText(text)}\n`);
    },
  });
  clearTimeout(slow);
  if (found.is === 'reached') return;
  throw new CommandError(
    exitCodes.unreachable,
    `the service cannot be reached: ${found.host}: ${found.error}`,
    advise`nothing was sent. Check MEDIABATCH_BASE_URL and the network; ${call('doctor')} looks at both`,
  );
}
