import { createHash } from 'node:crypto';
import { platform } from 'node:os';
import { basename } from 'node:path';
import { LockChangedError } from '../../contract/errors.ts';
import { type CampaignError, orFailure } from '../../contract/failure.ts';
import type { LockFile } from '../../contract/ports.ts';
import type { WantedVerdict } from '../../contract/review.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { orForgotten, readJsonFile } from '../../disk/state/caches.ts';
import { type Graph, outlineOf } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, isPlainText } from '../../ground/values.ts';
import { mostNote, mostReason } from '../../lock/decisions.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { writeLines, writeRecord } from '../../lock/write.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { type Judgement, judgeSteps } from '../../plan/decisions/judge.ts';
import { type Ruling, refuse, withGivenUp } from '../../plan/decisions/ruling.ts';
import { gatesByMember, stateOfGate } from '../../plan/gates/gates.ts';
import { withoutMovedAway } from '../../plan/rows/orphans.ts';
import type { DecidedGate } from '../../plan/situation/find-purchases.ts';
import { type Situation, situate } from '../../plan/situation/situation.ts';
import type { Verdicts } from '../../plan/situation/verdicts.ts';
import { changedMeanwhile, type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { wrongOptions } from '../option-table.ts';
import { holdGuard, openRunLock } from '../read-lock.ts';
import { refuseRestored } from '../restore-purchases.ts';
import { chooseSteps } from '../select-steps.ts';
import { Session } from '../session.ts';
import type { Chosen } from './steps.ts';

export interface JudgeOptions extends DecideOptions {
  /** 1 to 500 characters. Omitted to keep the current note. */
  note?: string | undefined;
  by?: string | undefined;
}

export interface PickOptions extends JudgeOptions {
  /** True if a pattern may also replace earlier picks, and pick rejected outputs. Defaults to false. */
  replace?: boolean | undefined;
}

interface RejectOptions extends JudgeOptions {
  /** One of the gate's `reasons`, or any text if the gate has none. Omitted to keep the current reason. */
  reason?: string | undefined;
}

/**
 * Picks outputs at their gates, so that dependent steps use these outputs. At a gate that chooses one output, the pick
 * replaces the earlier pick.
 */
export async function pick(campaign: OpenCampaign, chosen: Chosen, options: PickOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'picked' });
}

export async function reject(campaign: OpenCampaign, chosen: Chosen, options: RejectOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'rejected' });
}

/** Removes review decisions, so that outputs are neither picked nor rejected. */
export async function unpick(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'undecided' });
}

/** Reads review decisions from a file such as `picks.json`, and records them in the lock. */
export async function pickFrom(campaign: OpenCampaign, file: string, options: DecideOptions = {}): Promise<Decided> {
  return decide(campaign, options, async ({ situation }) => {
    const { graph, byAddress } = situation;
    const rulings: Ruling[] = [];
    const current = (await readPicks(file)).filter(({ address, by, job }) => {
      const match = byAddress.get(address);
      if (match === undefined) {
        rulings.push({ is: 'unchanged', address, text: `is no longer a step of the manifest (reviewed by ${by})` });
      } else if (job !== undefined && !isJob(match.purchase?.jobId, job)) {
        rulings.push({
          is: 'unchanged',
          address,
          text: `has changed since ${by} reviewed it: the reviewed output was of job ${job}`,
        });
      } else return true;
      return false;
    });
    // Rejections in the file are applied before its picks are checked, because a rejection may make room for a pick.
    const rejected = new Set(current.flatMap(({ address, is }) => (is === 'rejected' ? [address] : [])));
    const roomy = { ...situation, gateOf: gatesByMember(graph.gates.map((gate) => withoutPicks(gate, rejected))) };
    const judged = (['rejected', 'picked'] as const).flatMap((as) => {
      const own = current.filter(({ is }) => is === as);
      const words = new Map(own.map(({ address, note, reason, by }) => [address, { note, reason, by }]));
      const meant = own.flatMap(({ address }) => byAddress.get(address) ?? []);
      const rulings = judgeSteps(meant, { as, wordsOf: (address) => words.get(address) ?? {} }, roomy);
      return rulings.map((ruling) => {
        if (ruling.is !== 'recorded') return ruling;
        const text = `by ${words.get(ruling.address)?.by}, ${ruling.text}`;
        // The command is `pick`, so a rejection in the file is marked as `reject`.
        return { ...ruling, text, ...(as === 'rejected' && { as: 'reject' as const }) };
      });
    });
    const refused = [...refuseReasons(current, situation), ...judged.filter(({ is }) => is === 'refused')];
    return refused.length > 0 ? refused : [...withGivenUp(judged, 'picked', situation), ...rulings];
  });
}

export function jobToken(jobId: string): string {
  return createHash('sha256').update(jobId).digest('hex').slice(0, 24);
}

function isJob(jobId: string | undefined, named: string): boolean {
  return jobId !== undefined && (named === jobId || named === jobToken(jobId));
}

function withoutPicks({ state, ...gate }: DecidedGate, rejected: ReadonlySet<string>): DecidedGate {
  return { ...gate, state: { ...state, picked: state.picked.filter((address) => !rejected.has(address)) } };
}

function judge(
  campaign: OpenCampaign,
  chosen: Chosen,
  { as, note, reason, by, replace, ...options }: RejectOptions & PickOptions & Pick<Judgement, 'as'>,
): Promise<Decided> {
  return decide(campaign, options, ({ situation }) => {
    checkWords('--note', note, mostNote);
    checkWords('--reason', reason, mostReason);
    checkWords('--by', by, mostReason);
    const addresses = new Set(chooseSteps(chosen.names ?? [], chosen.select, situation));
    const meant = situation.matches.filter(({ step }) => addresses.has(step.address));
    const words = meant.map(({ step: { address } }) => ({ address, reason }));
    const wrong = refuseReasons(words, situation);
    if (wrong.length > 0) return wrong;
    const isPattern = chosen.select !== undefined || chosen.names?.some((name) => name.includes('*')) === true;
    const judgement = { as, isPattern, replaces: replace, wordsOf: () => ({ note, reason, by }) };
    return withGivenUp(judgeSteps(meant, judgement, situation), as, situation);
  });
}

function checkWords(option: '--note' | '--reason' | '--by', text: string | undefined, most: number): void {
  if (text === undefined || isPlainText(text, most)) return;
  const message = `${option} has ${String(text).length} characters, or characters that cannot be printed`;
  throw wrongOptions(message, `write 1 to ${most} characters on one line; nothing was recorded`, option);
}

/** Refuses reasons that the gate does not list, unless the lock has the reason: the gate may have listed it earlier. */
function refuseReasons(
  words: readonly { address: string; reason?: string | undefined }[],
  { byAddress, gateOf, verdicts }: Situation,
): Ruling[] {
  return words.flatMap(({ address, reason }) => {
    const { name, reasons = [] } = gateOf.get(address) ?? {};
    const match = byAddress.get(address);
    const known = [...reasons, match && verdicts.on(match)?.reason];
    if (!reason || reasons.length === 0 || known.includes(reason)) return [];
    const hint = `${suggestName(reason, reasons, { what: 'allowed reasons' })}; write other words as a note`;
    return refuse(address, `cannot have the reason ${JSON.stringify(reason)}, which is not a reason of ${name}`, hint);
  });
}

const mostBytes = 1 << 24;

const mostAddress = 4096;

interface Opinion {
  by: string;
  address: string;
  is: 'picked' | 'rejected';
  note?: string;
  reason?: string;
  job?: string;
}

/**
 * Reads `{ "mediabatch": "picks", "version": 1, "by"?, "verdicts": [{ "address", "is", "note"?, "reason"?, "job"? }]
 * }`. `by` defaults to the file name. If there are several decisions on an output, the last one applies. Throws MB3000.
 */
export async function readPicks(path: string): Promise<Opinion[]> {
  const document = await orForgotten(() => readJsonFile(path, mostBytes));
  if (!isMap(document) || document.mediabatch !== 'picks') {
    throw unusable(path, lstatOrAbsent(path) === undefined ? 'does not exist' : 'is not a picks file');
  }
  if (document.version !== 1) throw unusable(path, 'has a version that this mediabatch does not support');
  const { by = basename(path), verdicts } = document;
  if (!Array.isArray(verdicts)) throw unusable(path, 'has no list of "verdicts"');
  if (!isPlainText(by, mostReason))
    throw unusable(path, `has no valid name in "by": a string of 1 to ${mostReason} characters`);
  const opinions = new Map<string, Opinion>();
  for (const [index, one] of verdicts.entries()) {
    const opinion = readOpinion(one, by);
    if (opinion === undefined) throw unusable(path, `has an invalid verdict: number ${index + 1}`);
    opinions.set(opinion.address, opinion);
  }
  return [...opinions.values()];
}

function readOpinion(value: Json, by: string): Opinion | undefined {
  if (!isMap(value)) return undefined;
  const { address, is, note, reason, job } = value;
  if (!isPlainText(address, mostAddress) || (is !== 'picked' && is !== 'rejected')) return undefined;
  // The texts in the file come from another user, and are printed and stored in the lock, so they are checked first.
  if ([note, job].some((text) => text !== undefined && !isPlainText(text, mostNote))) return undefined;
  if (reason !== undefined && !isPlainText(reason, mostReason)) return undefined;
  return {
    ...{ by, address, is },
    ...(typeof note === 'string' && { note }),
    ...(typeof reason === 'string' && { reason }),
    ...(typeof job === 'string' && { job }),
  };
}

function unusable(path: string, what: string): CampaignError {
  const hint = 'give a file that the review page saved; nothing was recorded';
  return wrongOptions(`--from ${path} ${what}`, hint, '--from');
}

export function ruleOn(verdicts: readonly WantedVerdict[], situation: Situation): Ruling[] {
  return new Bench(situation).judgeAll(verdicts).rulings;
}

export interface Judged {
  rulings: Ruling[];
  gates: (Pick<DecidedGate, 'name' | 'state'> & { verdicts: ReadonlyMap<string, ReturnType<Verdicts['on']>> })[];
}

/** Checks review decisions in order, because a pick can change the outputs of later steps. */
class Bench {
  #now: Situation;
  #isOutdated = false;
  readonly #following: ReadonlySet<string>;

  constructor(situation: Situation) {
    const { steps, canaries = [] } = situation.written;
    const canaried = canaries.flatMap(({ asks, members }) => (asks ? members : []));
    const dependent = steps.flatMap(({ address, needs }) => (needs.length > 0 ? [address] : []));
    this.#now = situation;
    this.#following = new Set([...canaried, ...dependent]);
  }

  judgeAll(wanted: readonly WantedVerdict[]): Judged {
    const rulings = wanted.map((verdict) => this.#judge(verdict));
    const { byAddress, gateOf, verdicts } = this.#now;
    const gates = new Set(rulings.flatMap(({ is, address }) => (is === 'recorded' ? (gateOf.get(address) ?? []) : [])));
    const verdictOn = (address: string) => {
      const match = byAddress.get(address);
      return match && verdicts.on(match);
    };
    return {
      rulings,
      gates: [...gates].map((gate) => ({
        name: gate.name,
        state: this.#stateNow(gate).state,
        verdicts: new Map(gate.members.map((address) => [address, verdictOn(address)])),
      })),
    };
  }

  #judge({ address, is, job, ...words }: WantedVerdict): Ruling {
    if (this.#isOutdated && this.#following.has(address)) {
      this.#now = situate(this.#now.written, this.#now.lock);
      this.#isOutdated = false;
    }
    const { lock, byAddress, gateOf, verdicts } = this.#now;
    const match = byAddress.get(address);
    if (match === undefined) {
      return refuse(address, 'is not a step of the manifest', 'the manifest changed: reload the page');
    }
    if (match.purchase?.jobId !== undefined && match.purchase.jobId !== job) {
      return refuse(
        address,
        `has changed since its review: the reviewed output was of job ${job}`,
        'review the current output of the step',
      );
    }
    const gate = gateOf.get(address);
    const now = gate && this.#stateNow(gate);
    const judgement = { as: is, wordsOf: () => words };
    const nowOf = { get: (one: string) => (one === address ? now : gateOf.get(one)) };
    const wrong = refuseReasons([{ address, ...words }], this.#now);
    const rulings = [...wrong, ...judgeSteps([match], judgement, { ...this.#now, gateOf: nowOf })];
    const [ruling = refuse(address, 'cannot be decided', 'reload the page')] = rulings;
    if (ruling.is === 'recorded') {
      for (const record of ruling.records) {
        joinInto(lock.steps, record);
        verdicts.add(record);
      }
      this.#isOutdated = true;
    }
    return ruling;
  }

  #stateNow(gate: DecidedGate): DecidedGate {
    const { byAddress, verdicts } = this.#now;
    const seenOf = (address: string) => {
      const match = byAddress.get(address);
      return match === undefined ? 'none' : verdicts.seen(match);
    };
    return { ...gate, state: stateOfGate(gate, seenOf) };
  }
}

/** False on Windows, where an open file cannot be replaced: the lock file is closed after each batch. */
const keepsOpen = platform() !== 'win32';

interface OpenLock {
  graph: Graph;
  lock: Lock;
  file: LockFile;
  bench: Bench;
  stamp: string;
  isLonger: boolean;
}

/**
 * Records decisions of a review page in batches. Locks the campaign only during a batch. The content of the lock stays
 * in memory until another program changes the lock.
 */
export class DecisionWriter {
  readonly #campaign: OpenCampaign;
  #open: OpenLock | undefined;

  constructor(campaign: OpenCampaign) {
    this.#campaign = campaign;
  }

  judge(
    verdicts: readonly WantedVerdict[],
    { graph, lockTimeoutMs }: { graph: Graph; lockTimeoutMs: number },
  ): Promise<Judged> {
    return orFailure(
      this.#guarded(lockTimeoutMs, async () => {
        const held = await this.#openLock(graph);
        const judged = held.bench.judgeAll(verdicts);
        const addresses = judged.rulings
          .flatMap((one) => (one.is === 'recorded' ? one.records : []))
          .map((one) => one.address);
        const records = [...new Set(addresses)].flatMap((address) => held.lock.steps.get(address) ?? []);
        await Promise.all(records.map((record) => held.file.append(writeRecord(record))));
        held.isLonger ||= records.length > 0;
        held.stamp = this.#stamp();
        if (!keepsOpen && held.isLonger) await this.#rewrite(held);
        return judged;
      }),
    );
  }

  /** Rewrites the lock file if lines were appended. Does nothing during a run, because the run rewrites the file. */
  async tidy(): Promise<void> {
    if (this.#open?.isLonger !== true) return;
    await this.#guarded(0, async () => {
      if (this.#open?.stamp === this.#stamp()) await this.#rewrite(this.#open);
    }).catch(() => this.#releaseLock());
  }

  async #rewrite(held: OpenLock): Promise<void> {
    await held.file.replace(writeLines(withoutMovedAway(held.lock, outlineOf(held.graph))));
    held.isLonger = false;
    held.stamp = this.#stamp();
  }

  async close(): Promise<void> {
    await this.tidy();
    await this.#releaseLock();
  }

  async #guarded<T>(waitMs: number, work: () => Promise<T>): Promise<T> {
    const { paths, notify } = this.#campaign;
    const guard = await holdGuard(paths.lock, waitMs, notify);
    try {
      return await work();
    } catch (error) {
      // After an error, the lock in memory may contain lines that are not on disk.
      await this.#releaseLock();
      throw error instanceof LockChangedError ? changedMeanwhile(paths.lock) : error;
    } finally {
      if (!keepsOpen) await this.#releaseLock();
      await guard.release();
    }
  }

  async #openLock(graph: Graph): Promise<OpenLock> {
    const known = this.#open;
    if (known?.graph === graph && known.stamp === this.#stamp()) return known;
    await this.#releaseLock();
    const campaign = this.#campaign;
    const stamp = this.#stamp();
    const { loaded, lock, situation } = await Session.open(campaign, { graph });
    refuseRestored(campaign, loaded);
    const bench = new Bench(situation);
    const file = await openRunLock(campaign.paths.lock, { loaded, lock, claims: false });
    this.#open = { graph, lock, file, bench, stamp, isLonger: loaded.needsRewrite };
    return this.#open;
  }

  async #releaseLock(): Promise<void> {
    const file = this.#open?.file;
    this.#open = undefined;
    await file?.close().catch(() => undefined);
  }

  #stamp(): string {
    const stats = lstatOrAbsent(this.#campaign.paths.lock);
    return stats === undefined ? 'absent' : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  }
}
