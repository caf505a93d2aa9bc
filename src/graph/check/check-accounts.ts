import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { shorten } from '../../ground/values.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import { trailOf } from '../expand/draft.ts';
import type { Step } from '../graph.ts';
import { refreshLearns } from './check-request.ts';

export interface KnownAccount {
  id: string;
  name: string;
  expiresAt?: number;
}

interface Found {
  code: DiagnosticCode;
  severity: Diagnostic['severity'];
  message: string;
  hint: string;
  field: string;
  index?: number;
}

export interface PostFacts {
  manifest: Manifest;
  accounts?: readonly KnownAccount[];
  /** Whether `accounts` lists the sandbox's accounts. An account that the sandbox does not list is only a warning. */
  isSandbox?: boolean;
  now: number;
}

export function checkPosts(
  steps: readonly Step[],
  { accounts, isSandbox = false, manifest, now }: PostFacts,
): Diagnostic[] {
  const byId = new Map(accounts?.map((account) => [account.id, account]));
  const reported = new Map<string, Diagnostic>();
  const tasks = new Map(manifest.tasks.map((task) => [task.id, task]));
  for (const step of steps) {
    const found = [
      ...checkTime(step, now),
      ...(accounts === undefined ? [] : checkIds(step, { byId, isSandbox, now })),
    ];
    for (const { field, index, ...words } of found) {
      const written = tasks.get(step.task)?.with.find((one) => one.field === field);
      const inside = index === undefined ? [] : [index];
      const place = manifest.places.value(written === undefined ? taskPath(step.task) : [...written.path, ...inside]);
      const name = `${words.message} ${place.file} ${place.start.offset}`;
      // Each message is reported once per place in the manifest, for the first row that causes it.
      if (!reported.has(name))
        reported.set(name, { ...words, place, trail: trailOf({ task: step.task, row: step.row }) });
    }
  }
  return [...reported.values()];
}

function checkIds(
  { request }: Step,
  { byId, isSandbox, now }: { byId: ReadonlyMap<string, KnownAccount>; isSandbox: boolean; now: number },
): Found[] {
  const at = timeOf(request) ?? now;
  const ids = Object.entries(request).flatMap(([field, value]): { field: string; id: Json; index?: number }[] => {
    if (!/accounts?(_?ids?)?$/i.test(field)) return [];
    return Array.isArray(value) ? value.map((id, index) => ({ field, id, index })) : [{ field, id: value }];
  });
  return ids.flatMap(({ id, ...place }): Found[] => {
    // Only the service can check a value that is not a string, such as an output of another step.
    if (typeof id !== 'string') return [];
    const known = byId.get(id);
    if (known === undefined) {
      const name = `\`${shorten(id)}\``;
      const meant = nearestName(id, byId.keys());
      const guess = meant === undefined ? '' : `did you mean \`${meant}\`? `;
      const names = [...byId].map(([one, account]) => `${one} (${account.name})`);
      const hint = `${guess}connected: ${listNames(names)}`;
      const words = isSandbox
        ? { message: `the sandbox does not know the account ${name}`, hint: `${hint}; ${refreshLearns}` }
        : { message: `${name} is not a connected account`, hint };
      return [{ code: 'MB1509', severity: isSandbox ? 'warning' : 'error', ...words, ...place }];
    }
    const { expiresAt, name } = known;
    if (expiresAt === undefined || expiresAt > at) return [];
    const when = expiresAt <= now ? 'has expired' : `expires ${timeText(expiresAt)}, before this post is published`;
    const hint = 'reconnect the account in the dashboard of the service';
    return [{ code: 'MB1510', severity: 'warning', message: `${name} (${id}) ${when}`, hint, ...place }];
  });
}

function checkTime({ request }: Step, now: number): Found[] {
  const [field] = Object.keys(request).filter(isTime);
  const at = timeOf(request);
  if (field === undefined || at === undefined || at >= now) return [];
  const message = `\`${field}\` is ${timeText(at)}, which is in the past: the post is published at once`;
  return [{ code: 'MB1510', severity: 'warning', message, hint: 'write a future time, or remove the field', field }];
}

function timeOf(request: Step['request']): number | undefined {
  const [value] = Object.entries(request).flatMap(([name, one]) =>
    isTime(name) && typeof one === 'string' ? [one] : [],
  );
  const at = Date.parse(value ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function isTime(name: string): boolean {
  return /^(schedul|publish)/i.test(name);
}

function timeText(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
