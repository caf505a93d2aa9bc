import { systemClock } from '../contract/clock.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { keepAnswer, readAnswer } from '../disk/state/caches.ts';
import { checkPosts, type KnownAccount, type PostFacts } from '../graph/check/check-accounts.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { mapOf, messageOf } from '../ground/values.ts';
import { readLock } from '../lock/read.ts';
import { emptyLock } from '../lock/write.ts';
import { nameAccounts } from '../plan/consent.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { findPosted, isPost, sendsOf } from '../plan/posts/post-record.ts';
import { countOf } from '../report/numbers.ts';
import { shortList } from '../report/safe-text.ts';
import { platformName } from '../report/tables/lists.ts';
import type { Account } from '../service/library.ts';
import type { CheckedGraph } from './checked-graph.ts';
import { sandboxAnswer } from './embed-sandbox.ts';
import { readOtherLocks } from './find-locks.ts';
import { type LoadedManifest, manifestErrors } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';

const patienceMs = 5000;

type Accounts = Pick<PostFacts, 'accounts' | 'isSandbox'>;

/**
 * Checks times and accounts of posts that the plan would publish, and adds account names to the plan. Throws errors and
 * reports warnings. `asks`: queries the service (for 0 credits) instead of using stored accounts.
 */
export async function verifyPosts(
  plan: Plan,
  campaign: OpenCampaign,
  { checked, asks }: { checked: CheckedGraph; asks: boolean },
): Promise<Plan> {
  const rows = new Map(plan.rows.flatMap((row) => (isToLeave(row) ? [[row.address, row] as const] : [])));
  if (rows.size === 0) return plan;
  await warnMovedPosts(campaign, rows.values());
  const asked = asks ? await askForAccounts(campaign) : undefined;
  const known: Accounts = asked === undefined ? await readAccounts(campaign) : { accounts: asked };
  const { manifest, sources, graph } = checked;
  if (manifest !== undefined) {
    const steps = graph.steps.filter(({ address }) => rows.has(address));
    const diagnostics = checkPosts(steps, { ...known, manifest, now: systemClock.now() });
    if (hasErrors(diagnostics)) throw manifestErrors(campaign.file, { diagnostics, sources });
    if (diagnostics.length > 0) campaign.notify({ is: 'diagnostics', diagnostics, sources });
  }
  return nameAccounts(plan, known.accounts ?? []);
}

export async function checkUnsent(
  campaign: OpenCampaign,
  { graph, manifest }: Pick<LoadedManifest, 'graph' | 'manifest'>,
): Promise<Diagnostic[]> {
  const posts = graph?.steps.filter(({ kind }) => isPost(kind)) ?? [];
  const bytes = posts.length === 0 ? undefined : await readLockBytes(campaign.paths.lock).catch(() => undefined);
  const lock = bytes === undefined ? emptyLock() : readLock(campaign.paths.lock, bytes).lock;
  const postedAs = findPosted(lock);
  const unsent = posts.filter(({ address, fingerprint }) => {
    const record = lock.steps.get(address);
    return (record === undefined || sendsOf(record).length === 0) && postedAs(fingerprint) === undefined;
  });
  if (manifest === undefined || unsent.length === 0) return [];
  return checkPosts(unsent, { ...(await readAccounts(campaign)), manifest, now: systemClock.now() });
}

function isToLeave({ kind, post, later }: PlanRow): boolean {
  return post !== undefined || (kind === 'post' && later !== undefined);
}

async function askForAccounts(campaign: OpenCampaign): Promise<KnownAccount[] | undefined> {
  const { sandbox, environment, paths, service, notify } = campaign;
  const { baseUrl, token } = environment;
  if (sandbox || baseUrl === undefined || token === undefined) return undefined;
  // The HTTP client is large, so it is imported only when needed.
  const { Library, ServiceError } = await import('../service/library.ts');
  const library = new Library({ baseUrl, token, clock: systemClock, requestTimeoutMs: patienceMs });
  try {
    const { accounts, isWhole } = await library.accounts();
    if (!isWhole || accounts.length === 0) return undefined;
    const known = accounts.map(describe);
    await keepAnswer(
      paths.state,
      service,
      'accounts',
      known.map((account) => ({ ...account })),
    );
    return known;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    notify({
      is: 'notice',
      text: `the list of social accounts cannot be read, so the accounts of posts are not checked: ${messageOf(error)}`,
    });
    return undefined;
  } finally {
    await library.close();
  }
}

async function readAccounts({ sandbox, paths, service, rehearsed }: OpenCampaign): Promise<Accounts> {
  const kept = await readAnswer(paths.state, sandbox ? rehearsed : service, 'accounts');
  if (Array.isArray(kept)) return { accounts: kept.flatMap(readKept) };
  if (!sandbox) return {};
  const { readAccounts: read } = await import('../service/library.ts');
  return { accounts: read(await sandboxAnswer('/accounts')).accounts.map(describe), isSandbox: true };
}

function readKept(kept: Json): KnownAccount[] {
  const { id, name, expiresAt } = mapOf(kept);
  if (typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ id, name, ...(typeof expiresAt === 'number' && { expiresAt }) }];
}

function describe({ id, provider, name, username, expiresAt }: Account): KnownAccount {
  const who = username === '' ? name || id : `@${username.replace(/^@+/, '')}`;
  const at = Date.parse(expiresAt ?? '');
  return { id, name: `${platformName(provider)} ${who}`.trim(), ...(!Number.isNaN(at) && { expiresAt: at }) };
}

const mostNamed = 5;

async function warnMovedPosts(campaign: OpenCampaign, rows: Iterable<PlanRow>): Promise<void> {
  const { service, paths, notify } = campaign;
  const leaving = [...rows].flatMap(({ address, order }) =>
    order === undefined ? [] : [{ address, fingerprint: order.fingerprint }],
  );
  if (service === undefined || leaving.length === 0) return;
  const sent = new Map<string, string>();
  for (const { shown, lock } of await readOtherLocks(paths, service)) {
    for (const record of lock.steps.values()) {
      for (const { fingerprint, jobId } of sendsOf(record)) {
        sent.set(fingerprint, `${record.address} of ${shown} ${jobId === undefined ? 'may be' : 'is'} the same post`);
      }
    }
  }
  const found = leaving.flatMap(({ address, fingerprint }) => {
    const known = sent.get(fingerprint);
    return known === undefined ? [] : [`${address} (${known})`];
  });
  if (found.length === 0) return;
  const text = `${countOf(found.length, 'post')} may be published already by another campaign: ${shortList(found, mostNamed)}`;
  const hint =
    'if the task was moved to this manifest, do not publish its posts: check the accounts, and remove the task from this manifest';
  notify({ is: 'notice', text, hint });
}
