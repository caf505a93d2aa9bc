import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeFolder } from './folders.ts';
import { savePath, writeCampaign } from './inputs.ts';
import { bin, measureOnce, peakMiBOf } from './measure.ts';
import { compilePeers, startStub } from './service.ts';
import { independent } from './steps.ts';

/**
 * A file of 1 GiB up and one down, each in under 200 MB of memory at both ends: the runner and the sandbox. Prints the
 * figures; ends with 1 when a limit is missed. Run by `npm run test:release`, and by hand with `npx tsx test/bench/big-files.ts`.
 */
const size = 1024 ** 3;
const mostMiB = 200;
const folder = makeFolder();
let missed = false;
try {
  await upAndBack();
  await down();
} finally {
  removeFolder(folder, 0);
}
if (missed) process.exitCode = 1;

function report(name: string, mebibytes: number): void {
  missed ||= mebibytes > mostMiB;
  process.stdout.write(`${name}: ${Math.round(mebibytes)} MiB${mebibytes > mostMiB ? ` (missed: ${mostMiB})` : ''}\n`);
}

/** From disk through the signed URL into the sandbox, and back out of it. */
async function upAndBack(): Promise<void> {
  const sandbox = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--data', join(folder, 'sandbox')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const env = await readExports(sandbox.stdout);
    const file = join(folder, 'long.mp4');
    // Sparse: the disk is not what is measured.
    writeFileSync(file, Buffer.from('\0\0\0\x10ftypisom\0\0\0\0', 'latin1'));
    truncateSync(file, size);
    const manifest = join(folder, 'up.yaml');
    writeFileSync(manifest, 'version: 1\nname: big\ntasks:\n  long: { kind: upload, with: { file: long.mp4 } }\n');
    const up = await measureOnce({ args: [bin, 'apply', manifest, '--yes'], env });
    report('upload of 1 GiB, the runner', up.maxRssMiB);
    report('upload of 1 GiB, the sandbox', peakMiBOf(sandbox.pid));
    const record = readFileSync(join(folder, 'up.lock.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '{}';
    const { url } = JSON.parse(record) as { url: string };
    const hash = createHash('sha256');
    const answer = await fetch(url);
    for await (const chunk of answer.body ?? []) hash.update(chunk as Uint8Array);
    const same = record.includes(hash.digest('hex'));
    if (!same) throw new Error('what comes out of the sandbox is not what went in');
    report('download of 1 GiB, the sandbox', peakMiBOf(sandbox.pid));
  } finally {
    sandbox.kill();
  }
}

/** A picture of 1 GiB as the output of a job. */
async function down(): Promise<void> {
  compilePeers();
  const steps = independent(1, () => 0);
  const stub = await startStub({ durationsMs: 0, outputBytes: size });
  try {
    const manifest = writeCampaign(join(folder, 'down'), steps, { kind: 'image', concurrency: 1 });
    const found = await measureOnce({ args: [bin, 'apply', manifest, '--yes'], env: stub.env });
    if (statSync(join(folder, 'down', savePath(0, 'image'))).size !== size)
      throw new Error('the download is not whole');
    report('download of 1 GiB, the runner', found.maxRssMiB);
  } finally {
    stub.stop();
  }
}

/** What `mediabatch sandbox` prints for a shell. */
async function readExports(stream: NodeJS.ReadableStream): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    const found = [...text.matchAll(/^export (\w+)=(\S+)\n/gm)].map(([, name = '', value = '']) => [name, value]);
    if (found.length === 2) return Object.fromEntries(found);
  }
  throw new Error(`the sandbox ended: ${text}`);
}
