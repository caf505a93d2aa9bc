import { join } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findOddFile } from '../disk/fs/folders.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { lstatOrAbsent } from '../disk/fs/plain-file.ts';
import type { Json } from '../ground/json.ts';
import { messageOf } from '../ground/values.ts';
import type { Fault, SandboxOptions } from '../sandbox/index.ts';

export type { Fault };

export const sandboxKey = 'sandbox_live_local';

export interface RunningSandbox {
  url: string;
  balance(): number;
  setBalance(credits: number): void;
  knows(id: string): boolean;
  close(): Promise<void>;
}

export async function readFaults(path: string): Promise<Fault[]> {
  const sandbox = await import('../sandbox/index.ts');
  return sandbox.readFaults(path);
}

export async function startSandbox({
  port,
  ...options
}: Omit<SandboxOptions, 'apiKey'> & { port: number }): Promise<RunningSandbox> {
  // The sandbox writes to `dataDir`, and a git branch may contain links or pipes in this folder.
  const dataDir = options.files?.dataDir;
  const odd = dataDir === undefined ? undefined : (findWayOut(dataDir) ?? (await findOddFile(dataDir)));
  if (odd !== undefined) throw new Error(`${odd}; remove it, or choose another folder`);
  const { createSandbox, findMissing } = await import('../sandbox/index.ts');
  const missing = await findMissing();
  if (missing !== undefined) throw new Error(missing);
  const sandbox = createSandbox({ ...options, apiKey: sandboxKey });
  const { url, close } = await sandbox.listen({ port });
  return {
    url,
    balance: () => sandbox.balance(),
    setBalance: (credits) => sandbox.setBalance(credits),
    knows: (id) => sandbox.knows(id),
    close,
  };
}

let document: Promise<Json> | undefined;

export function sandboxDocument(): Promise<Json> {
  document ??= sandboxAnswer('/openapi.json');
  return document;
}

export async function sandboxAnswer(path: string): Promise<Json> {
  const { createSandbox } = await import('../sandbox/index.ts');
  const sandbox = createSandbox({ apiKey: sandboxKey });
  try {
    const answer = await sandbox.fetch(
      new Request(`http://127.0.0.1/api/v1${path}`, { headers: { authorization: `Bearer ${sandboxKey}` } }),
    );
    return (await answer.json()) as Json;
  } finally {
    await sandbox.close();
  }
}

export const busyHint = [
  'a rehearsal of another manifest, or `mediabatch sandbox`, uses this folder: wait until that process has ended, or end it',
  'if the process is an unrelated program, delete the named file',
];

export async function embedSandbox(options: Parameters<typeof startSandbox>[0]): Promise<RunningSandbox> {
  try {
    return await startSandbox(options);
  } catch (error) {
    const isBusy = (error as NodeJS.ErrnoException).code === 'EBUSY';
    throw new CampaignError({
      code: 'MB3301',
      message: `the embedded sandbox cannot start: ${messageOf(error)}`,
      ...(isBusy && { hint: busyHint }),
    });
  }
}

/** Opens the sandbox of a folder. With `keeps: false`, a new sandbox exists only in memory. */
export async function openSandbox(folder: string, keeps: boolean): Promise<Pick<RunningSandbox, 'url' | 'close'>> {
  const dataDir = join(folder, '.mediabatch', 'sandbox');
  const isStored = keeps || lstatOrAbsent(dataDir) !== undefined;
  return embedSandbox({ port: 0, ...(isStored && { files: { dataDir } }) });
}
