import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Goal } from './goals.ts';
import { writeCampaign } from './inputs.ts';
import { bin, measureOnce, median, type Sample } from './measure.ts';
import { independent } from './steps.ts';

export interface Start {
  command: string;
  wallMs: number;
  cpuMs: number;
  maxRssMiB: number;
  /** To bare node in the same round. */
  toNode: number;
}

/** Start-up (W5): what every command pays before it does anything, beside `node -e 0`, in turn. */
export async function measureStart(repetitions: number): Promise<Start[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-bench-'));
  try {
    const file = writeCampaign(
      folder,
      independent(15, () => 0),
      { kind: 'image', concurrency: 8 },
    );
    const commands = [
      { command: 'node -e 0', args: ['-e', '0'] },
      { command: '--version', args: [bin, '--version'] },
      { command: 'validate, 15 steps', args: [bin, 'validate', file] },
      { command: 'plan, 15 steps', args: [bin, 'plan', file] },
    ];
    const rounds: Sample[][] = [];
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      const round: Sample[] = [];
      for (let turn = 0; turn < commands.length; turn += 1) {
        const index = (turn + repetition) % commands.length;
        round[index] = await measureOnce({ args: commands[index]?.args ?? [], env: { XDG_STATE_HOME: folder } });
      }
      // The first round only brings the files into memory.
      if (repetition > 0) rounds.push(round);
    }
    return commands.map(({ command }, index) => {
      const of = (pick: (sample: Sample, node: Sample) => number) =>
        median(
          rounds.flatMap((round) => {
            const [sample, node] = [round[index], round[0]];
            return sample === undefined || node === undefined ? [] : [pick(sample, node)];
          }),
        );
      return {
        command,
        wallMs: of(({ wallMs }) => wallMs),
        cpuMs: of(({ cpuMs }) => cpuMs),
        maxRssMiB: of(({ maxRssMiB }) => maxRssMiB),
        toNode: of(({ wallMs }, node) => wallMs / node.wallMs),
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const most: Record<string, number> = { '--version': 1.1, 'plan, 15 steps': 2.5 };

export function judgeStart(starts: Start[]): Goal[] {
  return starts.flatMap(({ command, toNode }) => {
    const limit = most[command];
    return limit === undefined
      ? []
      : [{ trial: 'W5', text: `${command}, wall × bare node`, most: limit, value: toNode }];
  });
}
