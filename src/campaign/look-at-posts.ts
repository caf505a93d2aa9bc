import { systemClock } from '../contract/clock.ts';
import { keepAccounts, readKeptAccounts } from '../disk/state/kept-document.ts';
import { checkPosts, type KnownAccount } from '../graph/check/check-accounts.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { mapOf, messageOf } from '../ground/values.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { platformName } from '../report/tables/accounts-text.ts';
import type { Account } from '../service/read-voices.ts';
import type { CheckedGraph } from './checked-graph.ts';
import { mistakesOf } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { tellMovedPosts } from './tell-moved-posts.ts';

const patienceMs = 5000;

/**
 * Holds the posts of a plan that are still to leave against the accounts that the service has, and against the clock, and
 * puts the names of accounts into the plan. Throws the mistakes, and tells the warnings. `asks`: the service is asked,
 * which is free; otherwise what is kept of its last answer counts.
 */
export async function lookAtPosts(
  plan: Plan,
  campaign: OpenCampaign,
  { checked, asks }: { checked: CheckedGraph; asks: boolean },
): Promise<void> {
  const rows = new Map(plan.rows.flatMap((row) => (isToLeave(row) ? [[row.address, row] as const] : [])));
  if (rows.size === 0) return;
  await tellMovedPosts(campaign, rows.values());
  const accounts = (asks ? await askForAccounts(campaign) : undefined) ?? (await readAccounts(campaign));
  const { manifest, sources, graph } = checked;
  if (manifest !== undefined) {
    const steps = graph.steps.filter(({ address }) => rows.has(address));
    const diagnostics = checkPosts(steps, { accounts, manifest, now: systemClock.now() });
    if (hasErrors(diagnostics)) throw mistakesOf(campaign.file, { diagnostics, sources });
    if (diagnostics.length > 0) campaign.tell({ is: 'diagnostics', diagnostics, sources });
  }
  const names = new Map(accounts?.map(({ id, name }) => [id, name]));
  for (const { post } of rows.values()) {
    const own = (post?.accounts ?? []).flatMap((id) => (names.has(id) ? [[id, names.get(id) ?? ''] as const] : []));
    if (post !== undefined && own.length > 0) post.names = Object.fromEntries(own);
  }
}

/** Whether a post is to be sent, now or when people have agreed or picked. One that is out is not judged again. */
function isToLeave({ kind, post, later }: PlanRow): boolean {
  return post !== undefined || (kind === 'post' && later !== undefined);
}

/** Asks the service for its accounts. Undefined where it does not tell, or not all: absence would be no proof then. */
async function askForAccounts(campaign: OpenCampaign): Promise<KnownAccount[] | undefined> {
  const { sandbox, environment, paths, service, tell } = campaign;
  const { baseUrl, token } = environment;
  if (sandbox || baseUrl === undefined || token === undefined) return undefined;
  // What speaks HTTP is large.
  const { createLibrary, ServiceError } = await import('../service/library.ts');
  const library = createLibrary({ baseUrl, token, clock: systemClock, requestTimeoutMs: patienceMs });
  try {
    const { accounts, isWhole } = await library.accountList();
    if (!isWhole || accounts.length === 0) return undefined;
    const known = accounts.map(describe);
    const document = known.map((account) => ({ ...account }));
    if (service !== undefined) await keepAccounts(paths.state, service, { document, now: systemClock.now() });
    return known;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    tell({
      is: 'notice',
      text: `the accounts of the service cannot be read, and those of posts are not checked: ${messageOf(error)}`,
    });
    return undefined;
  } finally {
    await library.close();
  }
}

/** Reads the accounts that are kept, or those of the embedded service: needs no network. */
async function readAccounts({ sandbox, paths, service }: OpenCampaign): Promise<KnownAccount[] | undefined> {
  if (sandbox) {
    const [{ sandboxAnswer }, { readAccounts: read }] = await Promise.all([
      import('./embed-sandbox.ts'),
      import('../service/read-voices.ts'),
    ]);
    return read(await sandboxAnswer('/accounts')).map(describe);
  }
  const kept = service === undefined ? undefined : await readKeptAccounts(paths.state, service);
  return Array.isArray(kept) ? kept.flatMap(readKept) : undefined;
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
