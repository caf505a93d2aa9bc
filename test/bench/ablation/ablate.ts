import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../measure.ts';
import { table } from '../print.ts';
import { type Run, runTrial } from '../trial.ts';
import { listWorkloads } from '../workloads.ts';
import { type Device, devices } from './devices.ts';
import type { Polled } from './polling-workloads.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const copied = ['src', 'schemas', 'test/bench', 'test/rig', 'package.json', 'tsconfig.json'];
const tsx = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs');

interface Options {
  repetitions: number;
  /** Rooms, or names of devices. None: all. */
  only: readonly string[];
  timeoutMs: number;
  print(text: string): void;
  tell(message: string): void;
}

/** Each device is switched off in a copy of the sources, and its workloads are measured with and without it. */
export async function ablate({ only, ...options }: Options): Promise<void> {
  const wanted = devices.filter(({ name, room }) => only.length === 0 || only.includes(name) || only.includes(room));
  const ofPolling = wanted.filter(({ room }) => room === 'polling');
  const ofDisk = wanted.filter(({ room }) => room === 'disk');
  if (ofPolling.length > 0) options.print(ablatePolling(ofPolling, options));
  if (ofDisk.length > 0) options.print(await ablateDisk(ofDisk, options));
}

/** In virtual time: exact, whatever else the machine does. */
function ablatePolling(wanted: readonly Device[], { tell }: Options | Omit<Options, 'only'>): string {
  const measure = (device?: Device) =>
    withCopy(device, (copy) => {
      const script = join(copy, 'test', 'bench', 'ablation', 'polling-workloads.ts');
      tell(device?.name ?? 'all devices');
      return JSON.parse(execFileSync(process.execPath, [tsx, script, '--run'], { encoding: 'utf8' })) as {
        [workload: string]: Polled;
      };
    });
  const on = measure();
  const rows = wanted.map((device) => {
    const off = measure(device);
    return [
      device.name,
      ...Object.entries(on).map(([workload, with_]) => {
        const without = off[workload];
        return without === undefined
          ? ''
          : ratios([without.wall, with_.wall], [without.reads, with_.reads], [without.lagMs, with_.lagMs]);
      }),
    ];
  });
  const all = Object.values(on).map(
    ({ wall, reads, lagMs }) => `${wall.toFixed(3)}, ${reads.toFixed(2)}, ${lagMs.toFixed(0)}`,
  );
  const title = 'Polling: wall × ideal, reads per job and ms until an end is seen; below, without / with each device';
  return `${title}\n\n${table([['device', ...Object.keys(on)], ['(all)', ...all], ...rows])}`;
}

/** Whole processes, with and without in turn: medians of the ratios of runs made one after the other. */
async function ablateDisk(wanted: readonly Device[], options: Omit<Options, 'only'>): Promise<string> {
  const trials = listWorkloads({ long: false })
    .flatMap((workload) => workload.trials)
    .filter(({ name }) => ['W1', 'W7'].includes(name));
  const rows: string[][] = [];
  for (const device of wanted) {
    const row = [device.name];
    await withCopy(device, async (copy) => {
      for (const script of ['copy-assets.mjs', 'bundle.mjs']) {
        execFileSync(process.execPath, [join(copy, 'schemas', script)], { cwd: copy, stdio: 'ignore' });
      }
      const without = join(copy, 'dist', 'cli', 'bin.js');
      for (const trial of trials) {
        const once = async (bin?: string): Promise<Run | undefined> => {
          const one = { ...trial, tools: ['mediabatch' as const], repetitions: 1 };
          const runs = await runTrial(one, { ...options, extra: [], ...(bin !== undefined && { bin }) });
          return runs.get('mediabatch')?.[0];
        };
        const pairs: [Run | undefined, Run | undefined][] = [];
        for (let round = 0; round < options.repetitions; round += 1) {
          const isFirst = round % 2 === 0;
          const first = await once(isFirst ? without : undefined);
          const second = await once(isFirst ? undefined : without);
          pairs.push(isFirst ? [first, second] : [second, first]);
        }
        const of = (pick: 'wallMs' | 'cpuMs') =>
          median(
            pairs.flatMap(([off, on]) =>
              off === undefined || on === undefined || 'invalid' in off || 'invalid' in on
                ? []
                : [off.sample[pick] / on.sample[pick]],
            ),
          );
        row.push(`${of('wallMs').toFixed(2)}, ${of('cpuMs').toFixed(2)}`);
      }
    });
    rows.push(row);
  }
  return `Disk and network: wall and CPU without / with each device\n\n${table([['device', ...trials.map(({ name }) => name)], ...rows])}`;
}

function withCopy<Result>(device: Device | undefined, use: (copy: string) => Result): Result {
  const copy = mkdtempSync(join(tmpdir(), 'mediabatch-ablation-'));
  const remove = () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  let result: Result | undefined;
  try {
    for (const path of copied) cpSync(join(root, path), join(copy, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    if (device !== undefined) switchOff(copy, device);
    result = use(copy);
    return result;
  } finally {
    if (result instanceof Promise) void result.then(remove, remove);
    else remove();
  }
}

function switchOff(copy: string, { name, file, find, replace }: Device): void {
  const path = join(copy, file);
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2)
    throw new Error(`the text of “${name}” stands ${parts.length - 1} times in ${file}, not once`);
  writeFileSync(path, parts.join(replace));
}

function ratios(...pairs: [without: number, with_: number][]): string {
  return pairs.map(([without, with_]) => (without / with_).toFixed(2)).join(', ');
}
