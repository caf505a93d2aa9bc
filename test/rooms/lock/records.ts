import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Json } from '../../../src/ground/json.ts';
import { defined } from '../../../src/ground/values.ts';
import { joinLocks } from '../../../src/lock/join.ts';
import { readLock } from '../../../src/lock/read.ts';
import type {
  Decisions,
  Lock,
  MayHaveUnknown,
  Output,
  Purchase,
  PurchaseState,
  StepRecord,
} from '../../../src/lock/record.ts';
import { emptyLock, writeHeader } from '../../../src/lock/write.ts';

const jobStates: PurchaseState[] = ['running', 'lost', 'failed', 'done'];
const joblessStates: PurchaseState[] = ['intent', 'unresolved', 'refused'];

/** Fields as a newer version may write them, with names that mean something to a program among them. */
const unknownFields: fc.Arbitrary<MayHaveUnknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom('colour', 'approvedBy', '7', '__proto__', 'toString'),
          fc.constantFrom<Json>('red', 'ünklar', 3, null, [1, { b: 2, a: null }], { z: 1, a: [] }),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((fields) => ({ unknownFields: Object.fromEntries(fields) })),
  },
);

function withUnknown<T>(known: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.tuple(known, unknownFields).map(([one, unknown]) => ({ ...one, ...unknown }));
}

const outputs: fc.Arbitrary<Output[]> = fc
  .array(
    fc.record({
      path: fc.constantFrom('a.png', 'images/b.webp', 'x/y/z.mp3'),
      sha256: fc.constantFrom('0'.repeat(64), 'ab'.repeat(32)),
      bytes: fc.nat(3),
      type: fc.constantFrom('image/png', 'audio/mpeg'),
      edited: fc.boolean(),
      unknown: unknownFields,
    }),
    { maxLength: 2 },
  )
  .map((list) => list.filter(({ path }, index) => list.findIndex((other) => other.path === path) === index))
  .map((list) =>
    list.map(({ edited, unknown, ...output }) => ({ ...output, ...(edited && { edited: true as const }), ...unknown })),
  );

function requestOf(fingerprint: string): { [field: string]: Json } {
  return { prompt: `of ${fingerprint}`, list: [1, { b: 2, a: null }] };
}

/** Every send that any generated record may have, by what it was for. */
export function sendsOf({
  fingerprint,
  generation,
  attempt,
}: Pick<Purchase, 'fingerprint' | 'generation' | 'attempt'>) {
  return [1, 2].map((nth) => `s${nth}-${fingerprint.slice(2)}-${generation}-${attempt}`);
}

const attempts = [1, 2, 3];
const sendIds = ['1:aa', '1:bb'].flatMap((fingerprint) =>
  [1, 2].flatMap((generation) => attempts.flatMap((attempt) => sendsOf({ fingerprint, generation, attempt }))),
);
const someSends = fc.uniqueArray(fc.constantFrom(...sendIds), { maxLength: 6 });
const kinds = fc.constantFrom('image', 'music');

const mark = fc.constantFrom(undefined, true as const);

function maybe<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(one, { nil: undefined });
}

/**
 * Few values for each part of the identity, so that facts meet. As those of a line may, they have fields of other kinds
 * of facts. The request follows from the fingerprint, as it does in life.
 */
export const purchase: fc.Arbitrary<Purchase> = fc
  .record({
    fingerprint: fc.constantFrom('1:aa', '1:bb'),
    generation: fc.integer({ min: 1, max: 2 }),
    attempt: fc.constantFrom(...attempts),
    jobId: maybe(fc.constantFrom('job-1', 'job-2', 'job-3')),
    rank: fc.nat(3),
    nth: fc.nat(1),
    account: maybe(fc.constantFrom('acc-1', 'acc-2')),
    digest: maybe(fc.constantFrom('d-1', 'd-2')),
    writtenOff: mark,
    forgotten: mark,
    kind: maybe(kinds),
    since: maybe(fc.constantFrom('2030-01-01T00:00:00.000Z', '2030-01-01T00:00:05.000Z', '2029-12-31T23:59:59Z')),
    fence: maybe(fc.constantFrom('', 'job-8', 'job-9')),
    resent: mark,
    keyKnown: mark,
    decided: mark,
    credits: maybe(fc.nat(4)),
    error: maybe(fc.constantFrom('no', 'moderated', 'ünklar')),
    outputs: maybe(outputs),
    recordId: maybe(fc.constantFrom('rec-1', 'rec-2')),
    url: maybe(fc.constantFrom('https://cdn.example/a.png', 'http://127.0.0.1:4010/media/b')),
    revision: maybe(fc.nat(2)),
    take: maybe(fc.integer({ min: 1, max: 2 })),
    hasRequest: fc.boolean(),
    unknown: unknownFields,
  })
  .map(({ rank, nth, account, digest, writtenOff, fence, resent, keyKnown, hasRequest, unknown, ...facts }) => {
    const { fingerprint, generation, attempt, jobId } = facts;
    const state = (jobId === undefined ? joblessStates[rank % 3] : jobStates[rank]) ?? 'done';
    const ofSend = { send: sendsOf(facts)[nth], account, digest, writtenOff, fence, resent, keyKnown };
    const known = defined({
      ...facts,
      state,
      key: `${fingerprint}-${generation}-${attempt}`,
      ...(jobId === undefined && ofSend),
      decided: state === 'refused' ? facts.decided : undefined,
      request: hasRequest ? requestOf(fingerprint) : undefined,
    });
    return { ...known, ...unknown } as Purchase;
  });

const fingerprints = fc.constantFrom('1:aa', '1:bb');

/** As people on two branches may have made them: equal revisions with different contents among them. */
const revision = fc.integer({ min: 1, max: 3 });
const verdict = fc.record(
  {
    fingerprint: fingerprints,
    job: fc.constantFrom('job-1', 'job-2'),
    is: fc.constantFrom('picked', 'rejected'),
    note: fc.constantFrom('too dark', 'for the landing page'),
    revision,
  },
  { requiredKeys: ['fingerprint', 'job', 'revision'] },
);
const decisions: fc.Arbitrary<Decisions> = withUnknown(
  fc.record(
    {
      pin: withUnknown(fc.record({ fingerprint: fingerprints, revision }, { requiredKeys: ['revision'] })),
      accepted: fc.array(withUnknown(fc.record({ wanted: fingerprints, fingerprint: fingerprints, revision })), {
        maxLength: 3,
      }),
      verdicts: fc.array(withUnknown(verdict), { maxLength: 4 }),
      sends: someSends,
    },
    { requiredKeys: [] },
  ),
);

export const addresses = ['hero@de', 'hero@en', '__proto__', 'toString', 'lied@ü/2'];

/** Not in normal form: facts in any order, several of one purchase among them. */
export function rawRecord(address: fc.Arbitrary<string>): fc.Arbitrary<StepRecord> {
  return fc
    .record({
      address,
      kind: kinds,
      purchases: fc.array(purchase, { minLength: 1, maxLength: 5 }),
      decisions: fc.option(decisions, { nil: undefined }),
      closes: fc.option(someSends, { nil: undefined }),
    })
    .map(({ decisions: decided, closes, ...record }) => ({
      ...record,
      ...(decided !== undefined && { decisions: decided }),
      ...(closes !== undefined && closes.length > 0 && { closes }),
    }));
}

export const rawRecords = fc.array(rawRecord(fc.constantFrom(...addresses)), { maxLength: 6 });

/** Every purchase comes with its request, as each line of a run does, and the service says the same of one state. */
export const explainedRecords = rawRecords.map((records) =>
  records.map((record) => ({
    ...record,
    purchases: record.purchases.map((one) => ({
      ...one,
      request: requestOf(one.fingerprint),
      error: `said of what is ${one.state}`,
    })),
  })),
);

export function jobIds(lock: Lock): string[] {
  const ids = new Set<string>();
  for (const { address, purchases } of lock.steps.values()) {
    for (const { jobId } of purchases) if (jobId !== undefined) ids.add(`${address} ${jobId}`);
  }
  return [...ids].sort();
}

/** A file as version 2 wrote it first. It never changes. */
export const golden = readFileSync(new URL('golden-v2.lock.jsonl', import.meta.url));
export const header = writeHeader({ version: 2 });

export const good = {
  address: 'hero@de',
  kind: 'image',
  fingerprint: `1:${'ab'.repeat(32)}`,
  generation: 1,
  attempt: 1,
  state: 'done' as const,
  key: 'mb1-key',
  jobId: 'job-1',
};

export function read(text: string | Uint8Array) {
  return readLock('campaign.lock.jsonl', typeof text === 'string' ? Buffer.from(text) : text);
}

export function codes(text: string | Uint8Array): string[] {
  return read(text).diagnostics.map(({ code }) => code);
}

/** In normal form. */
export const lock: fc.Arbitrary<Lock> = fc
  .tuple(rawRecords, unknownFields, fc.option(fc.constantFrom('0.2.0', '0.10.0', '0.2.0-rc.1', '1.0')))
  .map(([records, unknown, writtenBy]) =>
    records.reduce(
      (sum, record) => joinLocks(sum, { version: 2, service: 'abc', steps: new Map([[record.address, record]]) }),
      { ...emptyLock(), ...(writtenBy !== null && { writtenBy }), ...unknown },
    ),
  );
