import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../contract/review.ts';

/** How long an answer is waited for, and how long until one that keeps silent about changes is asked again, in ms. */
const patience = 60_000;
const askAgainMs = 5000;

/** Who serves the page. A page from disk has its data in it, and nobody to talk to. */
export interface Host {
  load(): Promise<ReviewData>;
  /** Calls `listener` with each new revision, and when the connection is lost and found again. */
  watch(listener: (revision: number | 'lost' | 'found') => void): void;
  /** `failed`: nothing was recorded, for the reason in `text`. */
  send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }>;
}

/** The data that stands in the page itself: `<script type="application/json" id="data">`. */
export function dataInPage(): ReviewData | undefined {
  const text = document.getElementById('data')?.textContent;
  return text ? (JSON.parse(text) as ReviewData) : undefined;
}

/** The host at the page's own address. */
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
      // After an answer that is none, as of something between, a browser does not ask again by itself.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => changes === own && listen(), askAgainMs);
    });
    own.addEventListener('change', ({ data }) => listener((JSON.parse(data) as { revision: number }).revision));
  };
  listen();
  // The first word after it listens again is the revision of now.
  document.addEventListener('visibilitychange', listen);
}

async function send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }> {
  try {
    const answer = await fetch('verdicts', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verdicts }),
      // Through a tunnel that has died an answer may never come. To be sent again does no harm.
      signal: AbortSignal.timeout(patience),
    });
    if (answer.status === 200 || answer.status === 423) return (await answer.json()) as JudgeAnswer;
    return { is: 'failed', text: await reasonOf(answer) };
  } catch {
    return { is: 'failed', text: 'mediabatch does not answer; start `mediabatch review` again if it has ended' };
  }
}

async function reasonOf(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error?: { text?: string; hint?: string } };
    if (error?.text !== undefined) return [error.text, error.hint].filter((part) => part !== undefined).join('; ');
  } catch {
    // Not an answer of ours: its status says more than its body.
  }
  return `mediabatch answered with status ${answer.status}`;
}
