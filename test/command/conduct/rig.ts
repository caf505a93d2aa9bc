import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Fault } from '../../../src/sandbox/index.ts';
import { bin, type CommandResult, command, temporaryFolder } from '../../rig/command.ts';
import { type ServiceHere, serviceHere } from '../../rig/service-here.ts';

export interface Place {
  service: ServiceHere;
  folder: string;
  path(name: string): string;
  env: Record<string, string>;
  apply(args?: string[], env?: Record<string, string>): Promise<CommandResult>;
  /** Started, not awaited. */
  start(args: string[], env?: Record<string, string>): RunningCommand;
}

export interface RunningCommand {
  child: ChildProcess;
  err(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A campaign in a folder of its own, and a service that the test can look into. */
export async function makePlace(
  manifest: string,
  options: { speed?: number; credits?: number; faults?: Fault[]; apiKey?: string } = {},
): Promise<Place> {
  const { path: folder, remove } = temporaryFolder();
  const service = await serviceHere(options);
  onTestFinished(async () => {
    await service.close();
    remove();
  });
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...service.env };
  return {
    service,
    folder,
    env,
    path: (name) => join(folder, name),
    apply: (args = [], more = {}) =>
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args], {
        cwd: folder,
        env: { ...service.env, ...more },
      }),
    start(args, more = {}) {
      const child = spawn(process.execPath, [bin, ...args], {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      let err = '';
      child.stdout.resume();
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text;
      });
      return {
        child,
        err: () => err,
        ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal }))),
      };
    },
  };
}

/** Looks again and again until it is so. The test's own time limit ends it. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(5);
}

/** Pictures whose prompts are their rows. */
export function pictures(...rows: string[]): string {
  return `version: 1
name: conduct
tasks:
  pic: { kind: image, foreach: [${rows.join(', ')}], with: { prompt: "{{row}}", resolution: 1k }, save: "out/{{row}}" }
`;
}

export function createsSeen(service: ServiceHere): number {
  return service.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/create')).length;
}
