import type { JudgeAnswer, ReviewChange, ReviewData, WantedVerdict } from '../../contract/review.ts';

/** How long an answer is waited for, and how long until one that keeps silent about changes is asked again, in ms. */
const patience = 60_000;
const askAgainMs = 5000;

/** A revision alone: it takes the whole to get there. */
export type Change = ReviewChange | { revision: number };

export const startedAgain = 'mediabatch was started again: open the address that it printed';

/** Who serves the page. A page from disk has its data in it, and nobody to talk to. */
export interface Host {
  load(): Promise<ReviewData>;
  /** Calls `listener` with each change, and when the connection is lost and found again. `strange`: who answers does not know this page. */
  watch(listener: (news: Change | 'lost' | 'strange' | 'found') => void): void;
  /** `failed`: nothing was recorded, for the reason in `text`. */
  send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }>;
}

/** The data that stands in the page itself: `<script type="application/json" id="data">`. */
export function dataInPage(): ReviewData | undefined {
  const text = document.getElementById('data')?.textContent;
  return text ? (JSON.parse(text) as ReviewData) : undefined;
}

export function servedHost(): Host {
  return { load, watch, send };
}

async function load(): Promise<ReviewData> {
  const answer = await fetch('data.json', { signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return (await answer.json()) as ReviewData;
}

/** Tabs that nobody sees do not listen: a browser opens six connections to a host, and each that listens keeps one. */
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
      void isStrange().then((is) => is && isLost && listener('strange'));
      // After an answer that is none, as of something between, a browser does not ask again by itself.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => changes === own && listen(), askAgainMs);
    });
    own.addEventListener('change', ({ data }) => listener(JSON.parse(data) as Change));
  };
  listen();
  // The first word after it listens again is the revision of now.
  document.addEventListener('visibilitychange', listen);
}

/** Whether another process now serves this port (its token differs). */
async function isStrange(): Promise<boolean> {
  const answer = await fetch('icon.svg', { method: 'HEAD' }).catch(() => undefined);
  return answer?.status === 403;
}

async function send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }> {
  try {
    // To be sent again does no harm.
    const answer = await post('verdicts', { verdicts });
    if (answer.status === 200 || answer.status === 423) return (await answer.json()) as JudgeAnswer;
    if (answer.status === 403) return { is: 'failed', text: startedAgain };
    return { is: 'failed', text: await reasonOf(answer) };
  } catch {
    return { is: 'failed', text: 'mediabatch does not answer; start `mediabatch review` again if it has ended' };
  }
}

/** Sends a document to the server of this page. Through a tunnel that has died an answer may never come. */
function post(path: string, document: object): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
    signal: AbortSignal.timeout(patience),
  });
}

/** Error text of an answer. */
async function reasonOf(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error?: { text?: string; hint?: string } };
    if (error?.text !== undefined) return [error.text, error.hint].filter((part) => part !== undefined).join('; ');
  } catch {
    // Not an answer of ours: its status says more than its body.
  }
  return `mediabatch answered with status ${answer.status}`;
}
