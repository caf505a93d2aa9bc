import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Notice } from '../contract/notice.ts';
import { CampaignHost } from '../review/campaign-host.ts';
import { answerThread } from '../review/thread/answer-thread.ts';
import type { ReviewThreadData } from './commands/review.ts';
import { open } from './open.ts';
import { makeProgram } from './program/program.ts';
import { notCalled, processTerminal } from './terminal.ts';

if (parentPort !== null) void readReview(parentPort, workerData as ReviewThreadData);

async function readReview(port: MessagePort, { file, options, called }: ReviewThreadData): Promise<void> {
  const terminal = { ...processTerminal(), ...notCalled, called };
  // Called to give the terminal its commands.
  makeProgram({ terminal, exit: () => undefined });
  const campaign = await open(file, options, terminal);
  const tell = (notice: Notice) => port.postMessage({ is: 'notice', notice });
  const { select, exclude, by } = options;
  answerThread(port, new CampaignHost({ ...campaign, tell }, { select, exclude, by, paste: terminal.paste }));
}
