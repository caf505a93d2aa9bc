import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../../src/contract/review.ts';
import { type RunningCommand, until } from '../place.ts';

/** The page of a run, as its script talks to the server. */
export class RunPage {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async data(): Promise<ReviewData> {
    return (await (await fetch(`${this.#url}data.json`)).json()) as ReviewData;
  }

  /** Listens to changes, as an open tab does: a run that ends lets it take in what was told last. */
  async listen(): Promise<void> {
    const { body } = await fetch(`${this.#url}changes`);
    void body?.pipeTo(new WritableStream()).catch(() => undefined);
  }

  async judge(said: { [address: string]: WantedVerdict['is'] }): Promise<JudgeAnswer> {
    const { assets } = await this.data();
    const jobs = new Map(assets.map(({ address, job = '' }) => [address, job]));
    const verdicts = Object.entries(said).map(([address, is]) => ({ address, is, job: jobs.get(address) || 'none' }));
    return (await this.#send('verdicts', { verdicts })) as JudgeAnswer;
  }

  async #send(path: string, document: object): Promise<unknown> {
    const { origin } = new URL(this.#url);
    const headers = { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${this.#url}${path}`, { method: 'POST', headers, body: JSON.stringify(document) });
    return answer.json();
  }
}

/** The page of a run that has said where it is, or is gone. */
export async function pageOf(run: RunningCommand): Promise<RunPage> {
  const url = () => /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(run.err())?.[0];
  let isOver = false;
  void run.ended.then(() => {
    isOver = true;
  });
  await until(() => url() !== undefined || isOver);
  return new RunPage(url() ?? 'http://127.0.0.1:9/');
}
