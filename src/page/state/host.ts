import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../contract/review.ts';

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
  const answer = await fetch('data.json');
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return (await answer.json()) as ReviewData;
}

function watch(listener: Parameters<Host['watch']>[0]): void {
  const changes = new EventSource('changes');
  let isLost = false;
  changes.addEventListener('open', () => {
    if (isLost) listener('found');
    isLost = false;
  });
  changes.addEventListener('error', () => {
    isLost = true;
    listener('lost');
  });
  changes.addEventListener('change', ({ data }) => listener((JSON.parse(data) as { revision: number }).revision));
}

async function send(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer | { is: 'failed'; text: string }> {
  try {
    const answer = await fetch('verdicts', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verdicts }),
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
