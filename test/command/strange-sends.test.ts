import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunFact } from '../../src/contract/event.ts';
import { images, TestCampaign } from '../rig/campaign.ts';
import { type CommandOptions, command, expectExit } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { createsSeen } from '../rig/place.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';

describe('create requests that only the lock records', () => {
  const manifest = `version: 1
name: shop
prices: { image: 2 }
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  logo: { kind: image, with: { prompt: a sign, resolution: 1k } }
`;
  const program = { AI_AGENT: 'x' };

  /** A lock with an open send without an answer, as a run that was killed leaves it, or somebody writes it by hand. */
  async function leftOpen(text = manifest) {
    const trial = await makeTrial(text, withFaults([{ on: 'create', do: { type: 'hang' } }]));
    const [own, other] = [makeFolder(), makeFolder()];
    const run = (args: string[], { env, ...options }: Partial<CommandOptions> = {}) =>
      trial.run(args, { ...options, env: { XDG_STATE_HOME: own, ...env } });
    const apply = (args: string[], options: Partial<CommandOptions> = {}) =>
      run(['apply', 'campaign.yaml', '--poll-interval', '10', ...args], options);
    const elsewhere = (env: Record<string, string> = {}) => ({ env: { XDG_STATE_HOME: other, ...env } });
    const killed = await apply(['--yes', '-s', 'hero'], {
      onErr: (_seen, child) => {
        // Lock and purchase journal are written at the same time: both have the send only when its request has left.
        const look = setInterval(() => {
          if (createsSeen(trial.sandbox) > 0) child.kill('SIGKILL');
        }, 20);
        child.on('close', () => clearInterval(look));
      },
    });
    expect(killed.signal, killed.err).toBe('SIGKILL');
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toContain('"intent"');
    expect(trial.sandbox.ledger()).toEqual([]);
    return { trial, apply, elsewhere };
  }

  test('I43 retrying a create request that only the lock records needs an approval of its cost', async () => {
    const { trial, apply, elsewhere } = await leftOpen();
    const asked = await expectExit(5, apply([], elsewhere(program)));
    expect(asked.err.replaceAll(/\s+/g, ' ')).toContain(
      'so the request is charged once; the request was sent from another machine or long ago, so sending it again needs approval',
    );
    // Nor is it asked about beside every step.
    trial.write('campaign.yaml', manifest.replace(/ {2}hero.*\n/, ''));
    await expectExit(5, apply([], elsewhere(program)));
    expect(trial.sandbox.ledger()).toEqual([]);
    trial.write('campaign.yaml', manifest);
    await expectExit(0, apply(['--yes', '-s', 'hero'], elsewhere()));
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('the machine that was about to send it needs no new approval', async () => {
    const { trial, apply } = await leftOpen();
    const went = await expectExit(5, apply(['-s', 'hero'], { env: program }));
    expect(went.err).not.toContain('sending it again needs approval');
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('under a limit, other purchases wait for a price probe whose answer is recovered', async () => {
    const song = '  song: { kind: music, with: { model: song-7.5, prompt: calm } }\n';
    const text = manifest.replace('prices: { image: 2 }\n', '').replace('  hero', `${song}  hero`);
    const env = { MEDIABATCH_LIMIT: '20/day' };
    const { trial, apply } = await leftOpen(text);
    const went = await expectExit(0, apply(['--yes'], { env }));
    expect(went.err).not.toContain('stopped');
    expect(trial.sandbox.ledger()).toHaveLength(3);
  });
});

/** Thumbnails at a service that does not say what they take, and a song whose price is documented. */
async function makeCampaign() {
  const service = await OtherService.open({ ...terse, paths: { ...terse.paths, thumbnail: '/thumbnails/create' } });
  const folder = makeFolder();
  onTestFinished(() => service.close());
  return {
    service,
    write: (budget: number, more = '', rows = 3) =>
      writeFileSync(
        join(folder, 'campaign.yaml'),
        `version: 1
name: untold
budget: { credits: ${budget} }
${more}
tasks:
  thumb: { kind: thumbnail, foreach: [${[...'abcdefghij'].slice(0, rows)}], with: { title: "{{row}}", description: d }, save: "out/{{row}}" }
  song: { kind: music, with: { model: song-7.5, prompt: p }, save: out/song }
`,
      ),
    run: (...args: string[]) => command([...args, 'campaign.yaml'], { cwd: folder, env: service.env }),
    apply: (...args: string[]) =>
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args], { cwd: folder, env: service.env }),
  };
}

const guess =
  /48 credits are reserved for thumb@a as a guess: no charge is on record, and no price is known for thumbnail/;

test('an unreported charge stays reserved and is shown; a higher budget resumes, and the balance reveals the other charges', async () => {
  const { service, write, run, apply } = await makeCampaign();
  write(30);
  const first = await apply();
  expect([first.code, service.books.jobs.length]).toEqual([4, 1]);
  expect(first.err).toMatch(guess);
  expect(first.err).not.toContain('used up');
  expect(first.err).toContain('48 reserved · 0 of 30 left');
  const plan = await run('plan');
  expect(plan.out.replace(/\s+/g, ' ')).toMatch(guess);
  expect(plan.out).toContain('30, 0 left');
  expect((await run('status')).out).toContain('0 of 30 left');
  write(200);
  const second = await apply();
  expect([second.code, service.books.jobs.map(({ credits }) => credits)]).toEqual([0, [4, 4, 4, 4]]);
});

test('a price set by the user replaces the reservation for an unknown charge', async () => {
  const { service, write, run, apply } = await makeCampaign();
  write(30);
  await apply();
  write(30, 'prices: { thumbnail: 4 }');
  const plan = await run('plan');
  expect(plan.out).toContain('4 for create requests with unknown charge');
  expect(plan.out).not.toMatch(/guess|outcome/);
  expect(plan.out).toContain('30, 26 left now');
  const { code, err } = await apply();
  expect([code, service.books.jobs.length]).toEqual([0, 4]);
  expect(err).toContain('14 of 30 left');
});

test('one unresolved create request of unknown price reserves the highest price named for its kind', async () => {
  const { service, write, run, apply } = await makeCampaign();
  service.fate = ({ nth }) => (nth === 1 ? 'lose' : 'book');
  write(60, 'prices: { thumbnail/model=odd: 20 }');
  const { err } = await apply('--on-unknown', 'hold', '--select', 'thumb@a', '--select', 'song');
  expect(err).not.toMatch(/guess|fit/);
  expect(service.books.jobs.map(({ kind }) => kind)).toEqual(['thumbnail', 'music']);
  // With this option another apply finds out nothing.
  expect(err).toMatch(/to find out without paying twice: mediabatch apply (?!.*--on-unknown)/);
  expect(err).toContain('20 reserved · 36 of 60 left');
  expect((await run('status')).out).toContain('20 reserved · 36 of 60 left');
});

test('a price rise that only the balance reveals: create requests are sent one by one, within the approved total', async () => {
  const { service, write, apply } = await makeCampaign();
  service.books.rise = 4;
  write(100, '', 10);
  const { err } = await expectExit(4, apply('--exclude', 'song'));
  // 4, 8 and 12: the third shows that the price rises.
  expect(service.books.jobs.map(({ credits }) => credits)).toEqual([4, 8, 12]);
  expect(err).toMatch(/20 spent(?: ·|$)/m);
});

const hourMs = 3_600_000;

/** A campaign of six images on an account that pays for three; it is filled up so long after the first refusal. */
function poorCampaign(filledUpAfterMs: number): TestCampaign {
  const campaign = new TestCampaign(images(6));
  campaign.service.balance = 10;
  let refusedAt: number | undefined;
  campaign.service.trouble = () => {
    if (campaign.service.balance < 3) refusedAt ??= campaign.clock.now();
    if (refusedAt !== undefined && campaign.clock.now() - refusedAt >= filledUpAfterMs) campaign.service.balance = 100;
    return undefined;
  };
  return campaign;
}

function eventsOf<Name extends RunFact['event']>(events: RunFact[], name: Name): Extract<RunFact, { event: Name }>[] {
  return events.filter((event): event is Extract<RunFact, { event: Name }> => event.event === name);
}

describe('apply --wait-for-balance', () => {
  test('continues when the account has credits again, and pays nothing twice', async () => {
    const campaign = poorCampaign(20 * 60_000);
    const { outcomes, events, gate } = await campaign.run({ concurrency: 2, creditWaitMs: 2 * hourMs });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expect(gate.stopped).toBeUndefined();
    expect(campaign.service.ledger).toHaveLength(6);
    expect(new Set(campaign.service.ledger.map(({ body }) => body)).size).toBe(6);
    const [resumed] = eventsOf(events, 'spending-resumed');
    expect(resumed?.waitedMs).toBeGreaterThanOrEqual(20 * 60_000);
    expect(resumed?.waitedMs).toBeLessThan(26 * 60_000);
  });

  const buyAndClone = async (repeats: boolean) => {
    const campaign = poorCampaign(20 * 60_000);
    campaign.service.repeatsRefusals = repeats;
    const { outcomes } = await campaign.run({ concurrency: 1, creditWaitMs: 2 * hourMs });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    const kept = [...campaign.file.read().steps.values()].flatMap((step) => step.purchases);
    expect(kept.map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'done'));
    const clone = campaign.clone();
    for (let run = 1; run <= 30; run += 1) await clone.run();
    expect(campaign.service.ledger).toHaveLength(6);
    expect(clone.file.read().steps.size).toBe(6);
  };

  test('each try uses the keys from the first, so that a clone finds the purchases', () => buyAndClone(false));

  test('a repeated refusal is skipped, and a clone finds the purchases', () => buyAndClone(true));

  test('tries one create request at a time, at intervals from 30 s to 5 min, and stops when the time has passed', async () => {
    const campaign = poorCampaign(Number.POSITIVE_INFINITY);
    const times: number[] = [];
    const { outcomes, events, gate } = await campaign.run({
      concurrency: 4,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }) => {
        if (event === 'create-intended') times.push(campaign.clock.now());
      },
    });
    expect(gate.stopped).toBe('balance');
    const pauses = eventsOf(events, 'credits-awaited');
    const begin = Date.parse(pauses[0]?.until ?? '') - 2 * hourMs;
    // A try is a walk through the keys that were refused so far.
    const tries = times.filter((time, index) => time > begin && time - (times[index - 1] ?? 0) > 1000);
    const gaps = tries.map((time, index) => time - (tries[index - 1] ?? begin));
    expect(Math.min(...gaps.slice(0, -1))).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5 * 60_000 + 5000);
    expect(tries.length).toBeLessThan(35);
    expect(tries.at(-1)).toBeGreaterThanOrEqual(begin + 2 * hourMs);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(3);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done', 'refused', 'left']));
  });

  test('collects running jobs during the wait', async () => {
    const campaign = poorCampaign(hourMs);
    const order: string[] = [];
    await campaign.run({
      concurrency: 4,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }) => {
        if (event === 'output-saved' || event === 'spending-resumed') order.push(event);
      },
    });
    expect(order.slice(0, 4)).toEqual(['output-saved', 'output-saved', 'output-saved', 'spending-resumed']);
  });

  test('ends at once when the run is interrupted', async () => {
    const campaign = poorCampaign(Number.POSITIVE_INFINITY);
    let pausedAt = 0;
    let aborted = 0;
    const { outcomes } = await campaign.run({
      concurrency: 2,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }, abort) => {
        if (event !== 'credits-awaited') return;
        pausedAt += 1;
        if (pausedAt < 3) return;
        aborted = campaign.clock.now();
        abort();
      },
    });
    expect(campaign.clock.now() - aborted).toBeLessThan(1000);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).not.toHaveLength(0);
    campaign.service.balance = 100;
    campaign.service.trouble = () => undefined;
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(6);
  });
});

describe('I15 402 without waiting', () => {
  test('I15 no create request is sent after the answer, not even a queued one', async () => {
    const campaign = new TestCampaign(images(11));
    campaign.service.balance = 13;
    // One answer makes everybody wait; meanwhile the account turns out to be empty.
    campaign.service.trouble = (create) =>
      create === 6 || create === 7
        ? { answer: { is: 'throttled', message: 'HTTP 429', afterMs: 60_000 } }
        : create === 5
          ? { answer: { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402' } }
          : undefined;
    const { outcomes } = await campaign.run({ concurrency: 4 });
    // Four that are paid, one, one and two; then four that leave together.
    expect(campaign.service.creates).toHaveLength(8);
    expect(outcomes['pic@p1']).toBe('done');
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).toHaveLength(5);
    campaign.service.balance = 100;
    campaign.service.trouble = () => undefined;
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(11);
  });
});
