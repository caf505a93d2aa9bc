import { makeFolder, removeFolder } from './folders.ts';
import type { Goal } from './goals.ts';
import { writeCampaign } from './inputs.ts';
import { bin, measureOnce, median, type Sample } from './measure.ts';
import { independent } from './steps.ts';

export interface Start extends Sample {
  command: string;
  /** Wall time to that of bare node in the same round. */
  toNode: number;
}

/** Start-up (W5): what every command pays before it does anything, beside `node -e 0`, in turn. */
export async function measureStart(repetitions: number): Promise<Start[]> {
  const folder = makeFolder();
  const steps = independent(15, () => 0);
  const file = writeCampaign(folder, steps, { kind: 'image', concurrency: 8 });
  const commands: [command: string, args: string[]][] = [
    ['node -e 0', ['-e', '0']],
    ['--version', [bin, '--version']],
    ['validate, 15 steps', [bin, 'validate', file]],
    ['plan, 15 steps', [bin, 'plan', file]],
  ];
  const samples = commands.map((): Sample[] => []);
  // The first round only brings the files into memory.
  for (let round = 0; round <= repetitions; round += 1) {
    for (const turn of commands.keys()) {
      const index = (turn + round) % commands.length;
      const sample = await measureOnce({ args: commands[index]?.[1] ?? [], env: { XDG_STATE_HOME: folder } });
      if (round > 0) samples[index]?.push(sample);
    }
  }
  removeFolder(folder, 0);
  const [bare = []] = samples;
  return commands.map(([command], index) => {
    const own = samples[index] ?? [];
    return {
      command,
      wallMs: median(own.map(({ wallMs }) => wallMs)),
      cpuMs: median(own.map(({ cpuMs }) => cpuMs)),
      maxRssMiB: median(own.map(({ maxRssMiB }) => maxRssMiB)),
      toNode: median(own.map(({ wallMs }, round) => wallMs / (bare[round]?.wallMs ?? Number.NaN))),
    };
  });
}

const most: Record<string, number> = { '--version': 1.1, 'plan, 15 steps': 2.5 };

export function judgeStart(starts: Start[]): Goal[] {
  return starts.flatMap(({ command, toNode }) => {
    const limit = most[command];
    const text = `${command}, wall × bare node`;
    return limit === undefined ? [] : [{ trial: 'W5', text, most: limit, value: toNode }];
  });
}
