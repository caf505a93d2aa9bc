import fc from 'fast-check';
import { expect } from 'vitest';
import { joinLocks, joinRecords } from '../../../src/lock/join.ts';
import type { StepRecord } from '../../../src/lock/record.ts';
import { writeLine, writeLines } from '../../../src/lock/write.ts';
import { forgetRecord, moveRecord } from '../../../src/plan/decisions/forget.ts';
import { resolvePurchase } from '../../../src/plan/decisions/resolve-purchase.ts';
import { openSendsOf } from '../../../src/plan/purchases/open-sends.ts';
import { TestCampaign } from '../../rig/campaign.ts';
import { type Mishap, mishaps, suffer } from '../../rig/mishaps.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';

const timeoutMs = 900_000;

/** Everything that may happen to a campaign with posts. */
type Act =
  | Mishap
  | { do: 'run'; publish: boolean }
  /** Of one post, or (-1) of the picture that all of them show. */
  | { do: 'edit'; which: number; as: number }
  /** Its task is switched off, or on again. */
  | { do: 'switch'; which: number }
  /** Its task gets another name; other words as well where they are given. */
  | { do: 'rename'; which: number; as: number | undefined }
  | { do: 'forget'; which: number }
  /** A branch is begun; later what it knew comes back. */
  | { do: 'branch' }
  | { do: 'merge' }
  /** A person looks at the accounts, and says what is there. */
  | { do: 'decide' };

const posts = [0, 1, 2];
const which = fc.constantFrom(...posts);
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), publish: fc.boolean() }) },
  { weight: 4, arbitrary: mishaps.die(12) },
  { weight: 3, arbitrary: mishaps.lose(4) },
  { weight: 2, arbitrary: mishaps.refuse(4) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('edit' as const), which: fc.constantFrom(-1, ...posts), as: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('switch' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('rename' as const), which, as: fc.option(fc.nat(2), { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forget' as const), which }) },
  { weight: 2, arbitrary: fc.constant<Act>({ do: 'branch' }) },
  { weight: 2, arbitrary: fc.constant<Act>({ do: 'merge' }) },
  { weight: 1, arbitrary: mishaps.wait(1, 22, 30) },
  { weight: 2, arbitrary: fc.constant<Act>({ do: 'decide' }) },
);

/** The first two share an account. */
const accountOf = (index: number) => (index < 2 ? 'a' : 'b');
const goesTo = (request: { [name: string]: unknown } | undefined) => JSON.stringify(request?.accountIds);

class History {
  readonly campaign: TestCampaign;
  readonly #off = new Set<number>();
  readonly #captions = posts.map(() => 0);
  /** How often its task was renamed. */
  readonly #names = posts.map(() => 0);
  #picture = 0;
  #branch: string | undefined;

  constructor() {
    this.campaign = new TestCampaign(this.#graph());
    this.campaign.service.jobMs = 3000;
    this.campaign.service.creditsOf = (body) => (body.includes('caption') ? 0 : 3);
  }

  #graph() {
    const pic: WrittenStep = { address: 'pic', kind: 'image', request: { prompt: `pic ${this.#picture}` } };
    const share = (index: number): WrittenStep => ({
      address: this.#addressOf(index),
      kind: 'post',
      request: {
        accountIds: [accountOf(index)],
        caption: `post ${index}: ${this.#captions[index]}`,
        media: [{ $ref: 'pic', field: 'url' }],
      },
    });
    return graphOfSteps([pic, ...posts.filter((index) => !this.#off.has(index)).map(share)]);
  }

  #addressOf(index: number): string {
    return `share${this.#names[index]}@${index}`;
  }

  /** Which posts are out, as the service knows it. */
  get out(): number[] {
    const bodies = this.campaign.service.ledger.map(({ body }) => /post (\d):/.exec(body)?.[1]);
    return bodies.flatMap((index) => (index === undefined ? [] : [Number(index)])).sort();
  }

  get wanted(): number[] {
    return posts.filter((index) => !this.#off.has(index));
  }

  async perform(act: Act): Promise<void> {
    const open = this.#openAccounts();
    const { ledger } = this.campaign.service;
    const before = ledger.length;
    await this.#act(act);
    const sent = ledger.slice(before).filter(({ body }) => body.includes('caption'));
    // I41
    if (act.do !== 'decide') expect(sent.filter(({ body }) => open.has(goesTo(JSON.parse(body))))).toEqual([]);
  }

  async #act(act: Act): Promise<void> {
    const { campaign } = this;
    switch (act.do) {
      case 'run': {
        const before = this.out;
        await campaign.run({ concurrency: 2, publish: act.publish, redo: this.#others() });
        if (!act.publish) expect(this.out).toEqual(before);
        return;
      }
      case 'edit':
        if (act.which < 0) this.#picture = act.as;
        else this.#captions[act.which] = act.as;
        campaign.graph = this.#graph();
        return;
      case 'switch':
        if (!this.#off.delete(act.which)) this.#off.add(act.which);
        campaign.graph = this.#graph();
        return;
      case 'rename':
        // Whoever forgets a post has said that what is out says nothing of another address.
        if (this.#isForgotten(this.#addressOf(act.which))) return;
        this.#names[act.which] = (this.#names[act.which] ?? 0) + 1;
        if (act.as !== undefined) this.#captions[act.which] = act.as;
        campaign.graph = this.#graph();
        return;
      case 'forget':
        return this.#record(this.#addressOf(act.which), (record) => {
          const ruling = forgetRecord(record, { price: 0, force: true });
          return ruling.is === 'recorded' ? ruling.records : [];
        });
      case 'branch':
        this.#branch = campaign.file.text;
        return;
      case 'merge': {
        const now = campaign.file.read();
        if (this.#branch === undefined) return;
        campaign.file.text = this.#branch;
        await campaign.file.replace(writeLines(joinLocks(campaign.file.read(), now)));
        return;
      }
      case 'decide':
        return this.#decide();
      default:
        return suffer(campaign, act);
    }
  }

  async #record(address: string, change: (record: StepRecord) => readonly StepRecord[]): Promise<void> {
    const { file } = this.campaign;
    const lock = file.read();
    const record = lock.steps.get(address);
    if (record === undefined) return;
    for (const one of change(record)) {
      const known = lock.steps.get(one.address);
      lock.steps.set(one.address, known === undefined ? one : joinRecords(known, one));
    }
    await file.replace(writeLines(lock));
  }

  /** Posts that wait beside one of which a person knows that it is another. */
  #others(): string[] {
    const indexOf = (address: string) => address.split('@')[1];
    return this.campaign
      .plan()
      .rows.filter(({ address, beside }) => beside !== undefined && indexOf(beside.address) !== indexOf(address))
      .map(({ address }) => address);
  }

  /** Which posts may be out without anybody knowing: nothing may go where they went. */
  #openAccounts(): Set<string> {
    const records = [...this.campaign.file.read().steps.values()].filter(({ kind }) => kind === 'post');
    return new Set(records.flatMap((record) => openSendsOf(record)).map(({ request }) => goesTo(request)));
  }

  async #decide(): Promise<void> {
    await this.#resolveAll();
    if (!this.campaign.plan().rows.some(({ beside }) => beside !== undefined)) return;
    // A person knows which post each of them is.
    for (const { address } of [...this.campaign.file.read().steps.values()].filter(({ kind }) => kind === 'post')) {
      const index = Number(address.split('@')[1]);
      if (address === this.#addressOf(index) && !this.#off.has(index)) continue;
      const { lock, step, own } = this.#stepOf(index);
      const isPosted = own?.purchases.some(({ jobId, forgotten }) => jobId !== undefined && forgotten !== true);
      await this.#record(address, (record) => {
        const ruling =
          step === undefined || isPosted === true
            ? forgetRecord(record, { force: true })
            : moveRecord(record, { step, price: 0, ...(own && { record: own }) });
        return ruling.is === 'recorded' ? ruling.records : [];
      });
      expect(lock.steps.has(address)).toBe(true);
    }
  }

  #isForgotten(address: string): boolean {
    const purchases = this.campaign.file.read().steps.get(address)?.purchases ?? [];
    return purchases.some(({ forgotten }) => forgotten === true);
  }

  #stepOf(index: number) {
    const { file, graph } = this.campaign;
    const lock = file.read();
    const address = this.#addressOf(index);
    return { lock, step: graph.steps.find((one) => one.address === address), own: lock.steps.get(address) };
  }

  async #resolveAll(): Promise<void> {
    const { file, service } = this.campaign;
    for (;;) {
      const records = [...file.read().steps.values()];
      const record = records.find((one) => openSendsOf(one).length > 0);
      const [open] = openSendsOf(record);
      if (record === undefined || open === undefined) return;
      const job = service.ledger.find(({ key }) => key === open.key);
      const finding = job === undefined ? { is: 'not-spent' as const } : { is: 'job' as const, jobId: job.jobId };
      await file.append(writeLine(resolvePurchase(record, open, finding)));
    }
  }
}

forAll([fc.array(acts, { minLength: 1, maxLength: 14 })], { numRuns: runs(400), endOnFailure: true, timeoutMs })(
  'I24 whatever happens, in whatever order, a post is out once at most, and never without a consent',
  async (history) => {
    const told = new History();
    for (const act of history) {
      await told.perform(act);
      expect(told.out).toEqual([...new Set(told.out)]);
    }
    // And what a person wants out goes out.
    for (const act of [{ do: 'decide' }, { do: 'run', publish: true }, { do: 'decide' }] as Act[]) {
      await told.perform(act);
    }
    await told.perform({ do: 'run', publish: true });
    expect(told.out).toEqual([...new Set(told.out)]);
    expect(told.out).toEqual(expect.arrayContaining(told.wanted));
  },
);
