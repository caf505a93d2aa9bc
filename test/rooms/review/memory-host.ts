import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JudgeAnswer, ReviewData, ReviewFile, ReviewHost, WantedVerdict } from '../../../src/contract/review.ts';
import { type RunningReview, serveReview } from '../../../src/review/serve/serve-review.ts';
import { temporaryFolder } from '../../rig/command.ts';

/** A campaign of one task whose outputs are files of a folder, and that keeps what it is told. */
export class MemoryHost implements ReviewHost {
  readonly folder: string;
  readonly judged: WantedVerdict[][] = [];
  readonly listeners = new Set<() => void>();
  revision = 1;
  /** What `judge` does instead of recording. */
  onJudge: (() => Promise<JudgeAnswer>) | undefined;
  readonly #files: ReviewFile[];

  constructor(folder: string, files: { path: string; bytes: Buffer; mediaType: string }[]) {
    this.folder = folder;
    this.#files = files.map(({ path, bytes, mediaType }) => {
      writeFileSync(join(folder, path), bytes);
      const [is] = mediaType.split('/') as [ReviewFile['is']];
      return { is, path, mediaType, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
  }

  async read(): Promise<ReviewData> {
    const assets = this.#files.map((file, index) => ({
      ...{ address: `pic/${index + 1}`, task: 'pic', kind: 'image', matrix: {}, tags: [], state: 'done' as const },
      ...{
        files: [file],
        request: {},
        defaults: {},
        differs: [],
        job: `job-${index}`,
        credits: 2,
        isJudged: true,
        earlier: [],
      },
      ...{ madeFrom: [], usedBy: [] },
    }));
    const gate = { is: 'choose' as const, choose: 1, state: 'open' as const, waiting: 0, waitingCredits: 0 };
    return {
      ...{
        version: 2,
        revision: this.revision,
        campaign: 'a <b> & "c"',
        file: 'campaign.yaml',
        canDecide: true,
        assets,
      },
      groups: [{ name: 'pic', task: 'pic', gate, differBy: ['take'], members: assets.map((_, index) => index) }],
    };
  }

  async judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    this.judged.push([...verdicts]);
    if (this.onJudge !== undefined) return this.onJudge();
    this.change();
    return { is: 'recorded', revision: this.revision, refused: [] };
  }

  change(): void {
    this.revision += 1;
    for (const listener of this.listeners) listener();
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  find({ path }: ReviewFile): string {
    return join(this.folder, path);
  }
}

/** Served until the test ends. */
export async function servedHost(
  files: ConstructorParameters<typeof MemoryHost>[1],
): Promise<{ host: MemoryHost; running: RunningReview; errors: unknown[]; origin: string }> {
  const folder = temporaryFolder();
  const host = new MemoryHost(folder.path, files);
  const errors: unknown[] = [];
  const running = await serveReview(host, {
    state: join(folder.path, '.mediabatch'),
    paste: ({ call, words }) => ['mediabatch', call, ...words].join(' '),
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    await running.close();
    folder.remove();
  });
  return { host, running, errors, origin: new URL(running.url).origin };
}
