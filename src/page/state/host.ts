import type { JudgeAnswer, ReviewChange, ReviewData, WantedVerdict } from '../../contract/review.ts';

/** Timeout of a request, in ms. */
const patience = 60_000;
/** Delay before the page reopens an event stream. */
const askAgainMs = 5000;

/** Change of the campaign's data. After a change without assets, only a revision number, the page loads all data. */
export type Change = ReviewChange | { revision: number };

/** Connection to the page's server. A page that was opened from disk has no server. */
export interface Host {
  load(): Promise<ReviewData>;
  /** Calls `listener` for each change, and when the connection is lost or restored. */
  watch(listener: (news: Change | 'lost' | 'found') => void): void;
  /** Sends verdicts. `failed`: the server recorded no verdict, and `text` states the reason. */
  send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }>;
}

export function servedHost(): Host {
  return { load, watch, send };
}

async function load(): Promise<ReviewData> {
  const answer = await fetch('data.json', { signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return (await answer.json()) as ReviewData;
}

/** Listens for changes only while the tab is visible, because a browser opens at most six connections per host. */
function watch(listener: Parameters<Host['watch']>[0]): void {
  let changes: EventSource | undefined;
  let isLost = false;
  const listen = () => {
    changes?.close();
    changes = undefined;
    if (document.visibilityState === 'hidden') return;
    const own = new EventSource('changes');
    changes = own;
    own.addEventListener('open', () => {
      if (isLost) listener('found');
      isLost = false;
    });
    own.addEventListener('error', () => {
      isLost = true;
      listener('lost');
      // After an invalid answer, for example from a proxy, the browser does not reconnect by itself.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => changes === own && listen(), askAgainMs);
    });
    own.addEventListener('change', ({ data }) => listener(JSON.parse(data) as Change));
  };
  listen();
  // A new event stream begins with the current revision.
  document.addEventListener('visibilitychange', listen);
}

async function send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }> {
  try {
    // A repeated verdict has no effect.
    const answer = await post('verdicts', { verdicts });
    if (answer.status === 200 || answer.status === 423) return (await answer.json()) as JudgeAnswer;
    // Another process of mediabatch, with another token, uses this port now.
    if (answer.status === 403) return { is: 'failed', text: 'mediabatch was started again: open its new address' };
    return { is: 'failed', text: await reasonOf(answer) };
  } catch {
    return { is: 'failed', text: 'mediabatch does not answer; start `mediabatch review` again if it has ended' };
  }
}

/** Sends a document to the server. The timeout ends requests through broken tunnels, which never answer. */
function post(path: string, document: object): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
    signal: AbortSignal.timeout(patience),
  });
}

async function reasonOf(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error?: { text?: string; hint?: string } };
    if (error?.text !== undefined) return [error.text, error.hint].filter((part) => part !== undefined).join('; ');
  } catch {
    // The response is not from mediabatch, so its status says more than its body.
  }
  return `mediabatch answered with status ${answer.status}`;
}
