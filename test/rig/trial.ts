import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Fault } from '../../src/sandbox/index.ts';
import { type CommandOptions, type CommandResult, command, readLines, temporaryFolder } from './command.ts';
import { type ServiceHere, type ServiceOptions, serviceHere } from './service-here.ts';

/** A folder with a campaign, and a service. Both go away with the test. */
export interface Trial {
  folder: string;
  sandbox: ServiceHere;
  write(name: string, text: string): void;
  path(name: string): string;
  run(args: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  apply(args?: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  events(): { event: string; address?: string; action?: string }[];
}

export async function makeTrial(manifest: string, options: { service?: ServiceOptions } = {}): Promise<Trial> {
  const folder = temporaryFolder();
  const sandbox = await serviceHere(options.service);
  onTestFinished(async () => {
    await sandbox.close();
    folder.remove();
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

/** A service with these faults. */
export const withFaults = (faults: object[]): { service: ServiceOptions } => ({
  service: { faults: faults as Fault[] },
});
