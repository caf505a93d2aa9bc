import type { Worker } from 'node:worker_threads';
import { CampaignError } from '../../contract/failure.ts';
import type { Tell } from '../../contract/notice.ts';
import type { JudgeAnswer, ReviewData, ReviewFile, WantedVerdict } from '../../contract/review.ts';
import { FileFinder } from '../find-files.ts';
import { type ClosingHost, type Question, type Questions, type Said, withDelta } from './answer-thread.ts';

interface Waiting {
  resolve(answer: Questions[keyof Questions]['answer']): void;
  reject(error: unknown): void;
}

type Thread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>;

interface ThreadOptions {
  /**
   * Paths of the campaign's files. They are resolved in this thread, so that a picture does not wait for a busy host.
   */
  paths: ConstructorParameters<typeof FileFinder>[0];
  tell: Tell;
}

/**
 * Host that runs in another thread (`answerThread`): reading 10,000 steps takes seconds, in which this thread serves
 * pictures.
 */
export class ThreadHost implements ClosingHost {
  readonly #worker: Thread;
  readonly #tell: Tell;
  readonly #finder: FileFinder;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #data: ReviewData | undefined;
  #looked: Promise<ReviewData> | undefined;
  #end: { error: unknown } | undefined;

  constructor(worker: Thread, { paths, tell }: ThreadOptions) {
    this.#worker = worker;
    this.#tell = tell;
    this.#finder = new FileFinder(paths);
    worker.on('message', (said: Said) => this.#receive(said));
    worker.on('error', (error) => this.#stop(error));
    worker.on('exit', () => this.#stop(new Error('the thread that reads the campaign has stopped')));
  }

  look(): Promise<ReviewData> {
    if (this.#looked !== undefined) return this.#looked;
    const looked = this.#ask('look', undefined).then((delta) => {
      this.#data = withDelta(this.#data, delta);
      return this.#data;
    });
    this.#looked = looked;
    // A failure is not kept, because the campaign may be readable the next time.
    looked.catch(() => {
      if (this.#looked === looked) this.#looked = undefined;
    });
    return looked;
  }

  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    return this.#ask('judge', verdicts);
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  find(file: ReviewFile): Promise<string | undefined> {
    return this.#finder.find(file);
  }

  async close(): Promise<void> {
    await this.#ask('close', undefined);
    await this.#worker.terminate();
  }

  #ask<Name extends keyof Questions>(name: Name, asked: Questions[Name]['asked']): Promise<Questions[Name]['answer']> {
    if (this.#end !== undefined) return Promise.reject(this.#end.error);
    this.#asked += 1;
    const number = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, name, asked } as Question);
    });
  }

  #receive(said: Said): void {
    if (said.is === 'notice') this.#tell(said.notice);
    else if (said.is === 'changed') {
      this.#looked = undefined;
      for (const listener of this.#listeners) listener();
    } else this.#settle(said);
  }

  #settle(said: Extract<Said, { number: number }>): void {
    const waiting = this.#waiting.get(said.number);
    this.#waiting.delete(said.number);
    if (said.is === 'answer') waiting?.resolve(said.answer);
    else waiting?.reject(said.is === 'failed' ? new CampaignError(said.failure) : said.error);
  }

  #stop(error: unknown): void {
    this.#end ??= { error };
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
