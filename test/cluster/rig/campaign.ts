import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent } from '../../../src/contract/event.ts';
import { exitCodes } from '../../../src/contract/exit.ts';
import type { Fate, IncomingCreate } from '../../rig/booking-service.ts';
import { readLines } from '../../rig/command.ts';
import { readLockFile } from '../../rig/oracle.ts';
import type { Ended } from '../../rig/program.ts';
import type { ClusterPlace } from './place.ts';

export interface Shape {
  /** Rows of pictures; a third as many films, and as many pictures of pictures. */
  rows: number;
  budget: number;
  concurrency: number;
}

/** Pictures, pictures and films made of them: kinds with replay and one with a list. Each asks for its own address. */
export function manifestOf({ rows, budget, concurrency }: Shape): string {
  const names = Array.from({ length: rows }, (_, index) => `r${index + 1}`);
  const list = (some: string[]) => `[${some.join(', ')}]`;
  const films = names.slice(0, Math.ceil(rows / 3));
  return `version: 1
name: chaos
budget: { credits: ${budget} }
service: { concurrency: ${concurrency} }
prices: { image: 3, video: 10 }
tasks:
  hero: { kind: image, foreach: ${list(names)}, with: { prompt: "hero {{row}}" } }
  pair:
    kind: image
    foreach: ${list(names)}
    from: { hero: { key: "{{row}}" } }
    with: { prompt: "pair {{row}}", referenceImages: ["{{tasks.hero.url}}"] }
  film: { kind: video, foreach: ${list(films)}, with: { prompt: "film {{row}}", duration: 2 } }
`;
}

/** Whatever happens, the service refuses this one: its step fails, and so does what needs it. */
const refused = 'image hero r2';

/** `onRefused` hears each time. */
export function refusing(
  others: (create: IncomingCreate) => Fate,
  onRefused = () => {},
): (create: IncomingCreate) => Fate {
  return (create) => {
    if (create.subject !== refused) return others(create);
    onRefused();
    return 400;
  };
}

/**
 * Whoever carries it out may die before the refusal is on record. The next one asks again, and a refusal then does not say
 * that nothing was charged before: a person is asked. In nothing else does such an end differ.
 */
export function withoutRefused({ code, lock, ends, spent }: End): End {
  const isOther = (text: string) => !/(?:hero|pair)@r2\b/.test(text);
  return {
    code: code === exitCodes.needsDecision ? exitCodes.someFailed : code,
    lock: lock.split('\n').filter(isOther).join('\n'),
    ends: Object.fromEntries(Object.entries(ends).filter(([address]) => isOther(address))),
    spent,
  };
}

/**
 * Buys the first film, here and with nothing going wrong. A search for lost creates trusts a list only when a job that is
 * known shows how requests come back in it; without one a lost film waits for a person.
 */
export async function buyFirstFilm(place: ClusterPlace, shape: Shape): Promise<void> {
  const [head] = manifestOf(shape).split('tasks:');
  place.write(
    'campaign.yaml',
    `${head}tasks:\n  film: { kind: video, foreach: [r1], with: { prompt: "film {{row}}", duration: 2 } }\n`,
  );
  const { code, err } = await place.applyLocally();
  if (code !== 0) throw new Error(`the first film was not bought: ${err}`);
  place.write('campaign.yaml', manifestOf(shape));
}

/** How a campaign came out. */
export interface End {
  code: number | null;
  /** The lock without its first line, which names the service's address. */
  lock: string;
  /** How each step ended, by address. */
  ends: Record<string, string>;
  spent: number;
}

export function endOf(place: ClusterPlace, { code }: Pick<Ended, 'code'>, home = place.home): End {
  const lock = readFileSync(join(home, 'campaign.lock.jsonl'), 'utf8').split('\n').slice(1).join('\n');
  const events = readLines<RunEvent>(join(home, 'events.jsonl'));
  const ends = new Map<string, string>();
  for (const event of events) {
    if (event.event === 'step-finished') ends.set(event.address, event.outcome);
    // Who is killed between the end of a run and its own begins another one, to which all that was made is up to date.
    else if (event.event === 'step-left' && !(event.reason === 'up to date' && ends.get(event.address) === 'done')) {
      ends.set(event.address, `left: ${event.reason}`);
    }
  }
  return {
    code,
    lock,
    ends: Object.fromEntries([...ends].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    spent: place.judge.spent,
  };
}

/** In what two ends differ, in a few words each; empty is good. */
export function differences(end: End, local: End): string[] {
  const found: string[] = [];
  if (end.code !== local.code) found.push(`exit ${end.code} instead of ${local.code}`);
  if (end.spent !== local.spent) found.push(`${end.spent} spent instead of ${local.spent}`);
  for (const address of new Set([...Object.keys(end.ends), ...Object.keys(local.ends)])) {
    const [is, was] = [end.ends[address], local.ends[address]];
    if (is !== was) found.push(`${address} ended ${is} instead of ${was}`);
  }
  const [lines, others] = [end.lock.split('\n'), local.lock.split('\n')];
  const [ours, theirs] = [new Set(lines), new Set(others)];
  found.push(...lines.filter((line) => !theirs.has(line)).map((line) => `in its lock alone: ${line.slice(0, 160)}`));
  found.push(...others.filter((line) => !ours.has(line)).map((line) => `not in its lock: ${line.slice(0, 160)}`));
  if (lines.length !== ours.size) found.push('its lock has lines twice');
  return found.slice(0, 20);
}

/** Outputs of a lock that are not where they belong, byte for byte: in the campaign's folder, or in the store. */
export function missingFiles(place: ClusterPlace): string[] {
  const lock = readLockFile(place.path('campaign.lock.jsonl'));
  const outputs = [...lock.steps.values()].flatMap(({ purchases: [newest] }) =>
    newest?.state === 'done' ? (newest.outputs ?? []) : [],
  );
  const known = new Map<string, string>();
  for (const folder of [place.store, place.home]) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.startsWith('.')) continue;
      const path = join(entry.parentPath, entry.name);
      known.set(createHash('sha256').update(readFileSync(path)).digest('hex'), path);
    }
  }
  return outputs.filter(({ path, sha256 }) => !known.get(sha256)?.endsWith(path)).map(({ path }) => path);
}

/** What the same campaign comes to by one process with nothing going wrong; made in a place of its own. */
export async function runLocally(
  place: ClusterPlace,
  options: { fate?: (create: IncomingCreate) => Fate; args?: string[] } = {},
): Promise<End> {
  if (options.fate !== undefined) place.judge.fate = options.fate;
  const ran = await place.applyLocally(place.home, ['--events', 'events.jsonl', ...(options.args ?? [])]);
  return endOf(place, ran);
}
