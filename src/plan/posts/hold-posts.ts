import type { OpenRequest } from '../../graph/graph.ts';
import { canonicalJson } from '../../ground/json.ts';
import { defined, shorten } from '../../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { openSends } from '../../lock/sends.ts';
import { isWork, publishes } from '../actions.ts';
import { type BlockedRow, reasonOf, type WorkRow } from '../plan.ts';
import { blocked, type Draft } from '../rows/draft.ts';
import { orphanRecords } from '../rows/orphans.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { accountsOf, isPost, mayMeet, type PostAccounts, sendsOf, wordsOfPost } from './post-record.ts';

interface PostContents {
  words: ReadonlySet<string>;
  /** Media of the post: links, and references to other steps. */
  media: ReadonlySet<string>;
}

interface KnownPost {
  address: string;
  accounts: PostAccounts;
  purchase: Purchase;
  contents: PostContents;
  /** Similarity of the post to the step that has its address now. Omitted if no step has this address. */
  likeOwn?: number;
}

/**
 * Blocks posts that may be published already. A post waits while the outcome of an earlier post to the same account is
 * unknown. A new post also waits for a user's decision if the step of a published post to the same account is not in
 * the manifest. A post in `redo` does not wait for this decision.
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
  const where = accounts === undefined ? 'to unknown accounts' : 'to the same account';
  return `waits for ${address}, which may be published: it was sent ${where}, and the answer was lost; check the account, then \`resolve\` ${address}`;
}

function findLost(matches: readonly Match[], lock: Lock): KnownPost[] {
  const wanted = new Set(matches.map(({ step }) => step.fingerprint));
  const replaced = matches.flatMap(({ step }): KnownPost[] => {
    const record = lock.steps.get(step.address);
    if (record === undefined) return [];
    if (!isPost(step.kind)) return knownPost(record);
    if (hasPosted(record, step.fingerprint)) return [];
    const contents = contentsOf(step.paidRequest);
    return knownPost(record)
      .filter(({ purchase }) => !wanted.has(purchase.fingerprint))
      .map((one) => ({ ...one, likeOwn: likenessOf(one.contents, contents) }));
  });
  return [...orphanRecords(matches, lock).flatMap(knownPost), ...replaced];
}

function hasPosted({ purchases }: StepRecord, fingerprint: string): boolean {
  return purchases.some((one) => one.fingerprint === fingerprint && one.jobId !== undefined);
}

function knownPost(record: StepRecord): KnownPost[] {
  const sent = sendsOf(record).filter(
    ({ jobId, forgotten, kind = record.kind }) => jobId !== undefined && forgotten !== true && isPost(kind),
  );
  const purchase = sent.find(({ request }) => request !== undefined) ?? sent[0];
  if (purchase === undefined) return [];
  const all = sent.map(({ request }) => accountsOf(request));
  const accounts = all.includes(undefined) ? undefined : new Set(all.flatMap((one) => [...(one ?? [])]));
  return [{ address: record.address, accounts, purchase, contents: contentsOf(purchase.request) }];
}

interface Pair {
  row: WorkRow;
  known: KnownPost;
  likeness: number;
}

/** Maximum number of pairs of posts to compare. If there are more pairs, some published posts are not compared. */
const mostCompared = 100_000;
/** Minimum similarity to a published post whose address is still in the manifest. */
const leastLikeness = 0.25;

function holdLost(draft: Draft, news: readonly WorkRow[], known: readonly KnownPost[]): void {
  if (known.length === 0) return;
  const mostOfEach = Math.max(1, Math.floor(mostCompared / news.length));
  const pairs = news.flatMap((row): Pair[] => {
    const { request, paidRequest } = row.order ?? {};
    const accounts = accountsOf(request);
    const contents = contentsOf(paidRequest);
    return known
      .filter((one) => mayMeet(one.accounts, accounts))
      .slice(0, mostOfEach)
      .map((one) => ({ row, known: one, likeness: likenessOf(one.contents, contents) }))
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
  // If there are more new posts than published posts, each unmatched new post may repeat one of the published posts.
  for (const pair of ranked) take(pair);
}

function heldBeside(
  row: WorkRow,
  { address, purchase: { jobId, request } }: Pick<KnownPost, 'address' | 'purchase'>,
): BlockedRow {
  const wordsOf = (of: OpenRequest | undefined) => (of === undefined ? '' : shorten(wordsOfPost(of), mostWords));
  const before = wordsOf(request);
  const after = wordsOf(row.order?.request);
  const text = `may be the published post ${address} under another name: \`move\` ${address} to this address, or --redo this address`;
  return {
    ...blocked(row, 'consent', reasonOf('post-lost', text)), // I41 (lost)
    ...defined({ post: row.post }),
    beside: { address, ...defined({ jobId }), ...(before && { before }), ...(after && { after }) },
    asked: row,
  };
}

const mostWords = 300;

function contentsOf(request: OpenRequest = {}): PostContents {
  const words =
    wordsOfPost(request)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  // Pairs of neighboring words are compared too, because the same words in another order are a different text.
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  const media = canonicalJson(request).match(/"https?:[^"\s]*"|"\$ref":"[^"]*"/g) ?? [];
  return { words: new Set([...words, ...pairs]), media: new Set(media) };
}

/** Returns the similarity of two posts, 0 to 1. Media have a weight of 0.3, because captions are often rewritten. */
function likenessOf(one: PostContents, other: PostContents): number {
  const words = shareOf(one.words, other.words);
  return one.media.size + other.media.size === 0 ? words : 0.7 * words + 0.3 * shareOf(one.media, other.media);
}

function shareOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((item) => other.has(item)).length;
  return shared === 0 ? 0 : (2 * shared) / (one.size + other.size);
}
