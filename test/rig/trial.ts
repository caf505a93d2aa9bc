import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type CommandOptions,
  type CommandResult,
  command,
  readLines,
  type SandboxProcess,
  sandboxProcess,
  temporaryFolder,
} from './command.ts';

/** A folder with a campaign, and a service in a process of its own. Both go away with the test. */
export interface Trial {
  folder: string;
  sandbox: SandboxProcess;
  write(name: string, text: string): void;
  path(name: string): string;
  run(args: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  apply(args?: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  events(): { event: string; address?: string; action?: string }[];
}

export async function makeTrial(manifest: string, options: { service?: string[] } = {}): Promise<Trial> {
  const folder = temporaryFolder();
  const service = temporaryFolder();
  const sandbox = await sandboxProcess(service.path, options.service);
  onTestFinished(async () => {
    await sandbox.stop();
    folder.remove();
    service.remove();
  });
  const path = (name: string) => join(folder.path, name);
  const write = (name: string, text: string) => writeFileSync(path(name), text);
  write('campaign.yaml', manifest);
  const run = (args: string[], given: Partial<CommandOptions> = {}) =>
    command(args, { cwd: folder.path, ...given, env: { ...sandbox.env, ...given.env } });
  return {
    folder: folder.path,
    sandbox,
    write,
    path,
    run,
    apply: (args = [], given = {}) =>
      run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--events', 'events.jsonl', ...args], given),
    events: () => readLines(path('events.jsonl')),
  };
}

/** Scripted faults of the service, as the arguments that load them. */
export function withFaults(faults: object[]): { service: string[] } {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, 'faults.json');
  writeFileSync(file, JSON.stringify(faults));
  return { service: ['--speed', 'Infinity', '--faults', file] };
}
