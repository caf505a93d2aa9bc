import type { MessagePort } from 'node:worker_threads';
import { failureOf } from '../../contract/failure.ts';
import type { ReviewData, ReviewHost } from '../../contract/review.ts';
import { deltaOf, type Question, type Said } from './delta.ts';

export type ClosingHost = ReviewHost & { close(): Promise<void> };

/** Answers the requests of a `ThreadHost` in the thread that reads the campaign. */
export function answerThread(port: MessagePort, host: ClosingHost): void {
  let sent: ReviewData | undefined;
  const answer = async ({ name, asked }: Question) => {
    switch (name) {
      case 'look': {
        const now = await host.look();
        const delta = deltaOf(sent, now);
        sent = now;
        return delta;
      }
      case 'judge':
        return host.judge(asked);
      case 'close':
        return host.close();
      default:
        return name satisfies never;
    }
  };
  const say = (said: Said) => port.postMessage(said);
  host.watch(() => say({ is: 'changed' }));
  port.on('message', async (question: Question) => {
    const { number } = question;
    try {
      say({ is: 'answer', number, answer: (await answer(question)) ?? undefined });
    } catch (error) {
      const failure = failureOf(error);
      say(failure === undefined ? { is: 'broken', number, error } : { is: 'failed', number, failure });
    }
  });
}
