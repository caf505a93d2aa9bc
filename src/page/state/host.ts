import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../contract/review.ts';

/** Who serves the page. A page from disk has its data in it, and nobody to talk to. */
export interface Host {
  load(): Promise<ReviewData>;
  /** Calls `listener` with each new revision, and with `undefined` after the connection was lost and found again. */
  watch(listener: (revision: number | undefined) => void): void;
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

function watch(listener: (revision: number | undefined) => void): void {
  const changes = new EventSource('changes');
  let wasLost = false;
  changes.addEventListener('open', () => {
    if (wasLost) listener(undefined);
    wasLost = false;
  });
  changes.addEventListener('error', () => {
    wasLost = true;
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
