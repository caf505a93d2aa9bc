import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../../src/contract/review.ts';
import { until } from '../place.ts';
import type { Program } from '../program.ts';

/** A review page, as its script talks to the server. */
export class ReviewPage {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async data(): Promise<ReviewData> {
    return (await (await fetch(`${this.url}data.json`)).json()) as ReviewData;
  }

  async judge(said: { [address: string]: WantedVerdict['is'] }): Promise<JudgeAnswer> {
    const { assets } = await this.data();
    const jobs = new Map(assets.map(({ address, job = '' }) => [address, job]));
    const verdicts = Object.entries(said).map(([address, is]) => ({ address, is, job: jobs.get(address) || 'none' }));
    const headers = {
      ...{ 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      origin: new URL(this.url).origin,
    };
    const body = JSON.stringify({ verdicts });
    const answer = await fetch(`${this.url}verdicts`, { method: 'POST', headers, body });
    return (await answer.json()) as JudgeAnswer;
  }
}

/** The page of a command that has said where it is, or is gone. */
export async function pageOf(run: Pick<Program, 'err' | 'ended'>): Promise<ReviewPage> {
  const url = () => /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(run.err())?.[0];
  let isOver = false;
  void run.ended.then(() => {
    isOver = true;
  });
  await until(() => url() !== undefined || isOver);
  return new ReviewPage(url() ?? 'http://127.0.0.1:9/');
}
