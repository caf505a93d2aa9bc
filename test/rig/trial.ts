import { equal } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Fault } from '../../src/sandbox/index.ts';
import { type CommandOptions, type CommandResult, command, readLines } from './command.ts';
import { makePlace } from './place.ts';
import type { ServiceHere, ServiceOptions } from './service-here.ts';

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
  const { folder, path, service: sandbox } = await makePlace(manifest, options.service);
  const run: Trial['run'] = (args, given = {}) =>
    command(args, { cwd: folder, ...given, env: { ...sandbox.env, ...given.env } });
  return {
    folder,
    sandbox,
    write: (name, text) => writeFileSync(path(name), text),
    path,
    run,
    apply: (args = [], given = {}) =>
      run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--events', 'events.jsonl', ...args], given),
    events: () => readLines(path('events.jsonl')),
  };
}

/** Runs a command, and kills it as soon as its stderr matches. Fails when the command ends by itself. */
export async function killAt(
  seen: RegExp,
  run: (options: Pick<CommandOptions, 'onErr'>) => Promise<CommandResult>,
): Promise<void> {
  const { signal, err } = await run({
    onErr: (text, child) => {
      if (seen.test(text)) child.kill('SIGKILL');
    },
  });
  equal(signal, 'SIGKILL', err);
}

/** A service with these faults. */
export const withFaults = (faults: object[]): { service: ServiceOptions } => ({
  service: { faults: faults as Fault[] },
});
