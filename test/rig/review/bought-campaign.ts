import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadManifest } from '../../../src/campaign/load-manifest.ts';
import type { Step } from '../../../src/graph/graph.ts';
import type { Lock, StepRecord } from '../../../src/lock/record.ts';
import { emptyLock, writeLock } from '../../../src/lock/write.ts';

/**
 * Writes lock and outputs of a campaign as if every step had been bought for 2 credits. `bytesOf` gives the output of a
 * step; undefined: it is not bought. `path` relative to the folder of outputs, that of the manifest.
 */
export async function buyEverything(
  file: string,
  bytesOf: (step: Step, index: number) => { path: string; bytes: Uint8Array; type?: string } | undefined,
): Promise<Lock> {
  const { graph } = await loadManifest(file);
  if (graph === undefined) throw new Error(`${file} has mistakes`);
  const lock = emptyLock();
  for (const [index, step] of graph.steps.entries()) {
    const output = bytesOf(step, index);
    if (output === undefined) continue;
    const path = join(dirname(file), output.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, output.bytes);
    lock.steps.set(step.address, recordOf(step, index, output));
  }
  writeFileSync(file.replace(/\.yaml$/, '.lock.jsonl'), writeLock(lock));
  return lock;
}

function recordOf(
  { address, kind, fingerprint, request, take }: Step,
  index: number,
  { path, bytes, type = 'image/png' }: { path: string; bytes: Uint8Array; type?: string },
): StepRecord {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const purchase = {
    ...{ fingerprint, generation: 1, attempt: 1, state: 'done' as const, key: `mb1-${index}`, jobId: `job-${index}` },
    ...{ credits: 2, outputs: [{ path, sha256, bytes: bytes.length, type }], request },
    ...(take !== undefined && { take }),
  };
  return { address, kind, purchases: [purchase] };
}
