import type { OpenRequest } from '../../graph/graph.ts';
import { canonicalJson } from '../../ground/json.ts';
import { defined, shorten } from '../../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { openSends } from '../../lock/sends.ts';
import { isWork, publishes } from '../actions.ts';
import type { BlockedRow, WorkRow } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import { blocked, type Draft } from '../rows/draft.ts';
import { orphanRecords } from '../rows/orphans.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { accountsOf, mayMeet, type PostAccounts, wordsOfPost } from './post-accounts.ts';
import { isPost, sendsOf } from './post-record.ts';

interface PostFeatures {
  words: ReadonlySet<string>;
  /** Links, and references to other steps. */
  media: ReadonlySet<string>;
}

interface KnownPost {
  address: string;
  accounts: PostAccounts;
  purchase: Purchase;
  features: PostFeatures;
  /** Similarity of the step that has its address now; omitted when there is none. */
  likeOwn?: number;
}

/**
 * Holds back posts that may already be published under another name. While it is unknown whether a post is published,
 * all posts to its accounts wait. A post that may equal a published one without a step waits for a user's decision.
 * `redo`: addresses that a user named.
 */
export function holdPosts(draft: Draft, { matches, lock, redo }: Pick<Situation, 'matches' | 'lock' | 'redo'>): void {
  const leaving = () => draft.inRun.filter(isWork).filter(publishes);
  const all = leaving();
  if (all.length === 0) return;
  const open = findOpen(lock, matches);
  for (const row of all) {
    const accounts = accountsOf(row.order?.request);
    const known = open.find((one) => mayMeet(one.accounts, accounts)); // I41 (open)
    if (known === undefined) continue;
    const waits = blocked(row, 'step', reasonOf('post-open', describeOpen(known)));
    draft.put({ ...waits, beside: { address: known.address } });
  }
  const news = leaving().filter((row) => !redo.has(row.address));
  if (news.length > 0) holdLost(draft, news, findLost(matches, lock));
}

function findOpen(lock: Lock, matches: readonly Match[]): Pick<KnownPost, 'address' | 'accounts'>[] {
  return openSends(lock, new Set(matches.map(({ step }) => step.address)))
    .filter(({ record, purchase }) => isPost(purchase.kind ?? record.kind))
    .map(({ record, purchase }) => ({ address: record.address, accounts: accountsOf(purchase.request) }));
}

function describeOpen({ address, accounts }: Pick<KnownPost, 'address' | 'accounts'>): string {
  const where = accounts === undefined ? 'to unknown accounts' : 'to an account of this one';
  return `waits for ${address}, which may be out: it went ${where}, and its answer was lost; look there, then \`resolve\` it`;
}

function findLost(matches: readonly Match[], lock: Lock): KnownPost[] {
  const lost = [...orphanRecords(matches, lock), ...replacedRecords(matches, lock)].flatMap((record) =>
    knownPost(record),
  );
  const wanted = new Set(matches.map(({ step }) => step.fingerprint));
  const retaken = matches.flatMap(({ step }): KnownPost[] => {
    const record = lock.steps.get(step.address);
    if (record === undefined || !isPost(step.kind) || hasPosted(record, step.fingerprint)) return [];
    const own = featuresOf(step.paidRequest);
    return knownPost(record)
      .filter(({ purchase }) => !wanted.has(purchase.fingerprint))
      .map((one) => ({ ...one, likeOwn: likenessOf(one.features, own) }));
  });
  return [...lost, ...retaken];
}

function replacedRecords(matches: readonly Match[], lock: Lock): StepRecord[] {
  return matches.flatMap(({ step }) => (isPost(step.kind) ? [] : (lock.steps.get(step.address) ?? [])));
}

function hasPosted({ purchases }: StepRecord, fingerprint: string): boolean {
  return purchases.some((one) => one.fingerprint === fingerprint && one.jobId !== undefined);
}

/** Returns the post of a record, if it has one. Forgotten posts are skipped: a user decided that they do not count. */
function knownPost(record: StepRecord): KnownPost[] {
  const sent = sendsOf(record).filter(
    ({ jobId, forgotten, kind = record.kind }) => jobId !== undefined && forgotten !== true && isPost(kind),
  );
  const purchase = sent.find(({ request }) => request !== undefined) ?? sent[0];
  if (purchase === undefined) return [];
  const accounts = sent.map(({ request }) => accountsOf(request));
  const isKnown = accounts.every((one) => one !== undefined);
  return [
    {
      address: record.address,
      accounts: isKnown ? new Set(accounts.flatMap((one) => [...(one ?? [])])) : undefined,
      purchase,
      features: featuresOf(purchase.request),
    },
  ];
}

interface Pair {
  row: WorkRow;
  known: KnownPost;
  likeness: number;
}

/** Maximum number of compared pairs. Beyond it, the first possible match is named. */
const mostCompared = 100_000;
/** Minimum similarity for a match with a published post whose address still has a step. */
const leastLikeness = 0.25;

function holdLost(draft: Draft, news: readonly WorkRow[], known: readonly KnownPost[]): void {
  if (known.length === 0) return;
  const mostOfEach = Math.max(1, Math.floor(mostCompared / news.length));
  const pairs = news.flatMap((row): Pair[] => {
    const { request, paidRequest } = row.order ?? {};
    const accounts = accountsOf(request);
    const features = featuresOf(paidRequest);
    return known
      .filter((one) => mayMeet(one.accounts, accounts))
      .slice(0, mostOfEach)
      .map((one) => ({ row, known: one, likeness: likenessOf(one.features, features) }))
      .filter(({ known: { likeOwn }, likeness }) => {
        return likeOwn === undefined || likeness > Math.max(likeOwn, leastLikeness); // I41 (retaken)
      });
  });
  const isPaired = new Set<string>();
  const ranked = pairs.sort((a, b) => b.likeness - a.likeness || (a.known.address < b.known.address ? -1 : 1));
  const take = ({ row, known: { address, purchase } }: Pair) => {
    if (draft.at(row.address) !== row) return;
    isPaired.add(address);
    draft.put(heldBeside(row, { address, purchase }));
  };
  for (const pair of ranked) if (!isPaired.has(pair.known.address)) take(pair);
  // With more new posts than published ones, each of the rest may be the same as one of these.
  for (const pair of ranked) take(pair);
}

/** Blocks a post until a user decides whether it equals another. Keeps the row to publish for that decision. */
function heldBeside(
  row: WorkRow,
  { address, purchase: { jobId, request } }: Pick<KnownPost, 'address' | 'purchase'>,
): BlockedRow {
  const wordsOf = (of: OpenRequest | undefined) => (of === undefined ? '' : shorten(wordsOfPost(of), mostWords));
  const before = wordsOf(request);
  const after = wordsOf(row.order?.request);
  const text = `may be the published post ${address} under another name: \`move\` that one here, or --redo this address`;
  return {
    ...blocked(row, 'consent', reasonOf('post-lost', text)), // I41 (lost)
    ...defined({ post: row.post }),
    beside: { address, ...defined({ jobId }), ...(before && { before }), ...(after && { after }) },
    asked: row,
  };
}

const mostWords = 300;

function featuresOf(request: OpenRequest = {}): PostFeatures {
  const words =
    wordsOfPost(request)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  // Includes pairs of neighboring words, because words in another order are another text.
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  const media = canonicalJson(request).match(/"https?:[^"\s]*"|"\$ref":"[^"]*"/g) ?? [];
  return { words: new Set([...words, ...pairs]), media: new Set(media) };
}

/** Returns the similarity of two posts, 0 to 1. The same words with other media are usually another post of a series. */
function likenessOf(one: PostFeatures, other: PostFeatures): number {
  const words = shareOf(one.words, other.words);
  return one.media.size + other.media.size === 0 ? words : 0.7 * words + 0.3 * shareOf(one.media, other.media);
}

function shareOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  let shared = 0;
  for (const item of small) if (large.has(item)) shared += 1;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}
