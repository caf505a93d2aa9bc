import fc from 'fast-check';
import { expect } from 'vitest';
import { joinLocks, joinRecords, recordOf } from '../../../src/lock/join.ts';
import type { Lock, LockLine, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { mayBeCharged, openSends, spentCredits } from '../../../src/lock/sends.ts';
import { emptyLock, writeLine, writeLock } from '../../../src/lock/write.ts';
import { asForgotten } from '../../../src/plan/decisions/forget.ts';
import { type Finding, resolvePurchase } from '../../../src/plan/decisions/resolve-purchase.ts';
import { withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { heldCredits } from '../../../src/plan/sum-up.ts';
import type { AnyFacts } from '../../rig/facts-of-purchase.ts';
import { header, read } from './records.ts';

type RecordedSend = ReturnType<typeof openSends>[number];

/** What may happen to a lock in a repository, with numbers that choose among what is there. */
export interface Deed {
  deed: (typeof deeds)[number];
  branch: number;
  other: number;
  pick: number;
  way: number;
}

const deeds = [
  'send',
  'send',
  'send',
  'answer',
  'answer',
  'refuse',
  'never leave',
  'collect',
  'decide',
  'forget',
  'settle',
  'rename',
  'remove',
  'branch',
  'merge',
  'merge',
  'cherry-pick',
  'put back',
] as const;

export const histories: fc.Arbitrary<Deed[]> = fc.array(
  fc.record({
    deed: fc.constantFrom(...deeds),
    branch: fc.nat(2),
    other: fc.nat(2),
    pick: fc.nat(11),
    way: fc.nat(7),
  }),
  { minLength: 1, maxLength: 30 },
);

/** What must be known on a branch, by nothing but the union of what was told there. */
export class Knowledge {
  readonly sent = new Set<string>();
  /** Answered, refused, or never left: as long as the journal says so. */
  readonly closed = new Set<string>();
  readonly decided = new Set<string>();
  readonly writtenOff = new Set<string>();
  readonly jobs = new Set<string>();
  readonly charges = new Map<string, number>();
  readonly forgotten = new Set<string>();

  learn(other: Knowledge): void {
    for (const name of ['sent', 'closed', 'decided', 'writtenOff', 'jobs', 'forgotten'] as const) {
      for (const id of other[name]) this[name].add(id);
    }
    for (const [job, credits] of other.charges) this.charges.set(job, Math.max(credits, this.charges.get(job) ?? 0));
  }

  hear(line: LockLine): void {
    const { earlier = [], ...newest } = line;
    for (const id of line.closes ?? []) this.closed.add(id);
    for (const id of line.decisions?.sends ?? []) this.decided.add(id);
    for (const purchase of [newest, ...earlier]) {
      const { jobId, credits } = purchase;
      if (mayBeCharged(purchase)) this.sent.add(purchase.send);
      if (purchase.writtenOff) this.writtenOff.add(purchase.send);
      if (jobId === undefined) continue;
      this.jobs.add(jobId);
      if (purchase.forgotten) this.forgotten.add(jobId);
      if (credits !== undefined) this.charges.set(jobId, Math.max(credits, this.charges.get(jobId) ?? 0));
    }
  }

  /** Once a run has ended nobody knows any more what was closed: neither that it was, nor that it had been open. */
  settle(): void {
    for (const id of [...this.closed, ...this.decided]) {
      this.sent.delete(id);
      this.writtenOff.delete(id);
    }
    this.closed.clear();
  }

  /** What may have been charged: open, or written off. */
  doubtful(): string[] {
    return [...this.sent].filter((id) => !this.closed.has(id) && !this.decided.has(id));
  }

  open(): string[] {
    return this.doubtful().filter((id) => !this.writtenOff.has(id));
  }

  copy(): Knowledge {
    const copy = new Knowledge();
    copy.learn(this);
    return copy;
  }
}

interface Branch {
  text: string;
  knows: Knowledge;
  /** Steps that its manifest has. */
  addresses: Set<string>;
  /** Earlier versions of the file. */
  past: { text: string; knows: Knowledge }[];
}

/** Every create of this one costs as many credits as its step's name is long. */
const priceOf = (_kind: string, request: { readonly [field: string]: unknown }) => ({
  class: 'any',
  credits: String(request.prompt).length,
  source: 'lock' as const,
});

/** A repository with a lock in it, and what its branches must know. */
export class Repository {
  readonly branches: Branch[] = [
    { text: header, knows: new Knowledge(), addresses: new Set(['a', 'bb', 'ccc']), past: [] },
  ];
  #count = 0;

  do({ deed, branch, other, pick, way }: Deed): void {
    const at = this.branches[branch % this.branches.length];
    const from = this.branches[other % this.branches.length];
    if (at === undefined || from === undefined) throw new Error('no branch');
    switch (deed) {
      case 'send':
        this.#send(at, pick, way);
        break;
      case 'answer':
        this.#close(at, pick, ({ purchase }) => ({
          state: 'running',
          jobId: this.#name('job'),
          ...(way % 2 === 0 && { credits: String(purchase.request?.prompt).length }),
        }));
        break;
      case 'refuse':
        this.#close(at, pick, () => ({ state: 'refused', error: 'no' }));
        break;
      case 'never leave':
        this.#close(at, pick, ({ purchase }) => ({ state: 'intent', send: purchase.send }));
        break;
      case 'collect':
        this.#collect(at, pick, way);
        break;
      case 'decide':
        this.#decide(at, pick, way);
        break;
      case 'forget':
        this.#forget(at, pick);
        break;
      case 'settle':
        this.#settle(at, read(at.text).lock);
        break;
      case 'rename':
        this.#rename(at, pick);
        break;
      case 'remove':
        at.addresses.delete([...at.addresses][pick % Math.max(1, at.addresses.size)] ?? '');
        break;
      case 'branch':
        if (this.branches.length < 3) {
          this.branches.push({ ...at, knows: at.knows.copy(), addresses: new Set(at.addresses), past: [...at.past] });
        }
        break;
      case 'merge':
        this.#merge(at, from, way);
        break;
      case 'cherry-pick':
        this.#cherryPick(at, from, pick);
        break;
      case 'put back': {
        const old = at.past[pick % Math.max(1, at.past.length)];
        if (old !== undefined) this.#merge(at, old, way);
        break;
      }
      default:
        deed satisfies never;
    }
    this.#check(at);
    at.past.push({ text: at.text, knows: at.knows.copy() });
  }

  /** Clones that know nothing of each other use the same generation, attempt and key. */
  #send(at: Branch, pick: number, way: number): void {
    const address = [...at.addresses][pick % Math.max(1, at.addresses.size)] ?? this.#add(at);
    const [kind, state] = way % 2 === 0 ? (['image', 'intent'] as const) : (['video', 'unresolved'] as const);
    const [generation, attempt] = [1 + (way >> 2), 1 + ((way >> 1) % 2)];
    const [step = address] = address.split('-');
    const fingerprint = `1:${step}-${kind}`;
    const key = `${fingerprint}-${generation}-${attempt}`;
    const since = new Date(Date.UTC(2030, 0, 1, 0, 0, this.#count)).toISOString();
    const request = { prompt: step };
    const send = this.#name('send');
    this.#tell(at, { address, kind, fingerprint, generation, attempt, key, state, send, since, request });
  }

  #add(at: Branch): string {
    const address = this.#name('dddd-');
    at.addresses.add(address);
    return address;
  }

  #close(at: Branch, pick: number, fact: (open: RecordedSend) => AnyFacts & Pick<Purchase, 'state'>): void {
    const open = this.#openIn(at, pick);
    if (open === undefined) return;
    const { record, purchase } = open;
    const { fingerprint, generation, attempt, key, request } = purchase;
    const { address, kind } = { ...record, kind: purchase.kind ?? record.kind };
    const line = { address, kind, fingerprint, generation, attempt, key, ...(request && { request }), ...fact(open) };
    this.#tell(at, { ...line, closes: [purchase.send] } as unknown as LockLine);
  }

  /** One step of a job towards its end, with what was charged, which an earlier line may not have said. */
  #collect(at: Branch, pick: number, way: number): void {
    const records = [...read(at.text).lock.steps.values()];
    const jobs = records.flatMap(({ address, kind, purchases }) =>
      purchases.flatMap((one) => (one.jobId === undefined ? [] : [{ address, kind, ...one }])),
    );
    const job = jobs[pick % Math.max(1, jobs.length)];
    if (job === undefined) return;
    const { forgotten: _forgotten, ...known } = job;
    const credits = way % 2 === 0 && job.credits === undefined ? { credits: this.#priceOfJob(job) } : {};
    this.#tell(at, { ...known, state: (['lost', 'failed', 'done'] as const)[way % 3] ?? 'done', ...credits });
  }

  #priceOfJob({ fingerprint }: Purchase): number {
    return (fingerprint.split(/[:-]/)[1] ?? '').length;
  }

  #decide(at: Branch, pick: number, way: number): void {
    const open = this.#openIn(at, pick);
    if (open === undefined) return;
    const { record, purchase } = open;
    const findings: Finding[] = [{ is: 'job', jobId: this.#name('job') }, { is: 'not-spent' }, { is: 'spend-again' }];
    const line = resolvePurchase(record, purchase, findings[way % 3] ?? { is: 'not-spent' });
    at.knows.hear(line);
    const { lock } = read(at.text);
    lock.steps.set(record.address, joinRecords(record, recordOf(line)));
    at.text = writeLock(lock);
    at.knows.settle();
  }

  #forget(at: Branch, pick: number): void {
    const { lock } = read(at.text);
    const record = [...lock.steps.values()][pick % Math.max(1, lock.steps.size)];
    if (record === undefined || record.purchases.length === 0) return;
    const forgotten: StepRecord = { ...record, purchases: record.purchases.map(asForgotten) };
    for (const { jobId } of record.purchases) if (jobId !== undefined) at.knows.forgotten.add(jobId);
    lock.steps.set(record.address, joinRecords(record, forgotten));
    this.#settle(at, lock);
  }

  #settle(at: Branch, lock: Lock): void {
    at.text = writeLock(withoutMovedAway(lock, at));
    at.knows.settle();
    const told = new Set([...at.knows.sent, ...at.knows.decided]);
    const named = at.text.match(/send-\d+/g) ?? [];
    expect(named.filter((id) => !told.has(id))).toEqual([]);
    expect(at.text).not.toContain('"closes"');
    expect(read(at.text).needsRewrite).toBe(false);
  }

  /** A step gets another name, and takes its history along. */
  #rename(at: Branch, pick: number): void {
    const { lock } = read(at.text);
    const record = [...lock.steps.values()].filter(({ purchases }) => purchases.length > 0)[
      pick % Math.max(1, lock.steps.size)
    ];
    const [face] = record?.purchases ?? [];
    if (record === undefined || face === undefined || !at.addresses.delete(record.address)) return;
    const address = this.#name(`${record.address}-`);
    at.addresses.add(address);
    const earlier = record.purchases.map((one) => ({ ...one, kind: one.kind ?? record.kind }));
    this.#tell(at, { ...face, address, kind: face.kind ?? record.kind, earlier });
  }

  /** The lines of both, as git puts them together, and the locks joined by hand: it is all one. */
  #merge(at: Branch, from: Pick<Branch, 'text' | 'knows'>, way: number): void {
    const [ours, theirs] = [read(at.text).lock, read(from.text).lock];
    const [a, b] = [at.text.split('\n').slice(1), from.text.split('\n').slice(1)];
    const texts = [
      [...a, ...b],
      [...b, ...a],
      ['<<<<<<< ours', ...a, '=======', ...b, '>>>>>>> theirs'],
      [...b.toReversed(), ...a, ...b],
    ].map(
      (lines) =>
        header +
        lines
          .filter((line) => line !== '')
          .map((line) => `${line}\n`)
          .join(''),
    );
    const settled = writeLock(joinLocks(ours, theirs));
    for (const text of texts) expect(writeLock(read(text).lock)).toBe(settled);
    expect(writeLock(joinLocks(theirs, ours))).toBe(settled);
    at.text = texts[way % texts.length] ?? '';
    at.knows.learn(from.knows);
  }

  /** Some lines of another branch: those of one step. */
  #cherryPick(at: Branch, from: Branch, pick: number): void {
    const lines = from.text
      .split('\n')
      .slice(1)
      .filter((line) => line !== '' && !/^[<=>]/.test(line));
    const addresses = [...new Set(lines.map((line) => (JSON.parse(line) as LockLine).address))];
    const wanted = addresses[pick % Math.max(1, addresses.length)];
    const picked = lines.filter((line) => (JSON.parse(line) as LockLine).address === wanted);
    at.text = [at.text.trimEnd(), ...picked].map((line) => `${line}\n`).join('');
    for (const line of picked) at.knows.hear(JSON.parse(line) as LockLine);
  }

  #tell(at: Branch, line: LockLine): void {
    const text = writeLine(line);
    at.text += text;
    at.knows.hear(JSON.parse(text) as LockLine);
  }

  #check({ text, knows }: Branch): void {
    const reading = read(text);
    expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const { lock } = reading;
    const records = [...lock.steps.values()];
    const purchases = records.flatMap((record) => record.purchases);
    expect(new Set(openSends(lock, new Set()).map(({ purchase }) => purchase.send))).toEqual(new Set(knows.open()));
    expect(new Set(purchases.flatMap(({ jobId }) => jobId ?? []))).toEqual(knows.jobs);
    const decided = records.flatMap(({ decisions }) => decisions?.sends ?? []);
    expect(new Set(decided)).toEqual(knows.decided);
    for (const { jobId, forgotten } of purchases) {
      if (jobId !== undefined && forgotten) expect(knows.forgotten).toContain(jobId);
    }
    const spent = [...knows.charges.values()].reduce((sum, credits) => sum + credits, 0);
    expect(spentCredits(lock)).toBe(spent);
    expect(heldCredits(lock, priceOf)).toEqual({ credits: this.#held(knows, purchases), unknownPrices: 0 });
    expect(joinLocks(lock, lock).steps).toEqual(joinLocks(lock, emptyLock()).steps);
  }

  /** The price of everything that may have been charged, and of every job whose charge is not known. */
  #held(knows: Knowledge, purchases: readonly Purchase[]): number {
    const prices = new Map(purchases.map((one) => [one.jobId ?? one.send ?? '', this.#priceOfJob(one)]));
    const unknown = [...knows.jobs].filter((job) => !knows.charges.has(job));
    return [...knows.doubtful(), ...unknown].reduce((sum, name) => sum + (prices.get(name) ?? Number.NaN), 0);
  }

  #openIn({ text }: Branch, pick: number): RecordedSend | undefined {
    const open = openSends(read(text).lock, new Set());
    return open[pick % Math.max(1, open.length)];
  }

  #name(what: string): string {
    this.#count += 1;
    return what.endsWith('-') ? `${what}${this.#count}` : `${what}-${this.#count}`;
  }
}
