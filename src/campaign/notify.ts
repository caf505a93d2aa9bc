import { CampaignError } from '../contract/failure.ts';
import { isLoopbackHost } from '../graph/inward-address.ts';

/**
 * Reads `MEDIABATCH_NOTIFY_URL` of the process, and nothing else: neither a manifest nor a `.env` that came with a
 * branch may say where words about a run go. Undefined when it is not set. As secret as a key: no error repeats it.
 */
export function readNotifyAddress(env: NodeJS.ProcessEnv): string | undefined {
  const text = env.MEDIABATCH_NOTIFY_URL?.trim();
  return text === undefined || text === '' ? undefined : checkAddress(text);
}

function checkAddress(text: string): string {
  const wrong = (why: string) =>
    new CampaignError({
      code: 'MB3207',
      message: `MEDIABATCH_NOTIFY_URL ${why}; nothing was sent, and nothing was spent`,
      hint: 'copy the address as the chat service shows it (it begins with https://), or unset the variable',
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw wrong('is not a URL');
  }
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) throw wrong('must be https (http only to this machine)');
  if (url.username !== '' || url.password !== '') throw wrong('must not hold a login');
  return url.href;
}
