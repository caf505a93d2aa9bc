import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished, type TestContext } from 'vitest';
import { bin, type CommandOptions, type CommandResult, command, temporaryFolder } from './command.ts';
import { type Program, startProgram } from './program.ts';
import { type ServiceHere, type ServiceOptions, serviceHere } from './service-here.ts';

export interface Place {
  service: ServiceHere;
  folder: string;
  lock: string;
  path(name: string): string;
  /** Another manifest. */
  write(manifest: string): void;
  env: Record<string, string>;
  apply(args?: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  /** Started, not awaited. */
  start(args: string[], env?: Record<string, string>): Program;
  /** Before the test has ended, where it makes many. */
  remove(): Promise<void>;
}

export const applied: readonly string[] = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];

/** A campaign in a folder of its own, and a service that the test can look into. */
export async function makePlace(
  manifest: string,
  /** `onTestFinished`: that of its own context, for a test that runs beside others. */
  options: ServiceOptions & { onTestFinished?: TestContext['onTestFinished'] } = {},
): Promise<Place> {
  const { path: folder, remove } = temporaryFolder();
  const { onTestFinished: atEnd = onTestFinished, ...ofService } = options;
  const service = await serviceHere(ofService);
  let removed: Promise<void> | undefined;
  const removeOnce = () => {
    removed ??= service.close().then(remove);
    return removed;
  };
  atEnd(removeOnce);
  const write = (text: string) => writeFileSync(join(folder, 'campaign.yaml'), text);
  write(manifest);
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, MEDIABATCH_REVIEW_PORT: '0', ...service.env };
  return {
    service,
    folder,
    lock: join(folder, 'campaign.lock.jsonl'),
    env,
    path: (name) => join(folder, name),
    write,
    remove: removeOnce,
    apply: (args = [], given = {}) =>
      command([...applied, ...args], { cwd: folder, ...given, env: { ...service.env, ...given.env } }),
    start(args, more = {}) {
      const program = startProgram([process.execPath, bin, ...args], { cwd: folder, env: { ...env, ...more } });
      onTestFinished(() => void program.child.kill('SIGKILL'));
      return program;
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
