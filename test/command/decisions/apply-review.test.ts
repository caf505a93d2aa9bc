import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readLines } from '../../rig/command.ts';
import { dyingAt, findLosses, remainsOf } from '../../rig/killed-run.ts';
import { readLockFile } from '../../rig/oracle.ts';
import { applied, makePlace, type Place, until } from '../../rig/place.ts';
import type { Program } from '../../rig/program.ts';
import { pageOf } from '../../rig/review/page-of-run.ts';

const manifest = `version: 1
name: live
prices: { image: 2 }
tasks:
  hero: { kind: image, matrix: { light: [warm, cold] }, gate: { choose: 1, among: light }, with: { prompt: "a {{matrix.light}} lamp", resolution: 1k } }
  poster: { kind: image, gate: approve, with: { prompt: "a poster", resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
  card: { kind: image, with: { prompt: "a card", resolution: 1k, referenceImages: ["{{tasks.poster.url}}"] } }
`;

const live = [...applied, '--review'];

const waits = (run: Program, times: number) => until(() => run.err().split('\nwaiting for ').length > times);
const verdictsOf = ({ lock }: Place) =>
  Object.fromEntries(
    [...readLockFile(lock).steps.values()].flatMap(({ address, decisions }) => {
      const [verdict] = decisions?.verdicts ?? [];
      return verdict?.is === undefined ? [] : [[address, verdict.is]];
    }),
  );

describe('apply --review', () => {
  test('goes from draft to final in one command', async () => {
    const place = await makePlace(manifest);
    const run = place.start([...live, '--json', '--events', 'events.jsonl']);
    const page = await pageOf(run);
    await waits(run, 1);
    const { run: state, groups, canDecide } = await page.data();
    expect([state?.is, canDecide]).toEqual(['waiting', true]);
    expect(groups.map(({ name, gate }) => [name, gate?.state])).toContainEqual(['hero', 'open']);
    expect(await page.judge({ 'hero@cold': 'picked' })).toMatchObject({ is: 'recorded', refused: [] });
    await waits(run, 2);
    expect(await page.judge({ poster: 'picked', card: 'picked' })).toMatchObject({ refused: [{ address: 'card' }] });
    expect(await run.ended).toMatchObject({ code: 0, signal: null });
    expect(place.service.ledger().map(({ credits }) => credits)).toHaveLength(4);
    expect(run.err()).toContain('live: all 4 steps done');
    expect(verdictsOf(place)).toEqual({ 'hero@cold': 'picked', poster: 'picked' });
    const events = readLines<{ event: string; address?: string; gates?: number }>(place.path('events.jsonl'));
    expect(events.flatMap(({ event, address }) => (event === 'output-judged' ? [address] : []))).toEqual([
      'hero@cold',
      'poster',
    ]);
    expect(events.at(-1)?.event).toBe('run-ended');
    // Whoever reads the events, or the history, cannot open the page.
    expect(readFileSync(place.path('events.jsonl'), 'utf8')).not.toContain('127.0.0.1');
    const again = await place.apply();
    expect(again.code).toBe(0);
    expect(place.service.ledger()).toHaveLength(4);
  });

  test('Ctrl-C at a gate leaves everything on record, and apply continues', async () => {
    const place = await makePlace(manifest);
    const run = place.start(live);
    const page = await pageOf(run);
    await waits(run, 1);
    await page.judge({ 'hero@warm': 'picked' });
    await waits(run, 2);
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 5, signal: null });
    expect(run.err()).toContain('poster: to be approved');
    expect(run.err()).toContain(
      'to review the outputs, and pick by keyboard: mediabatch apply campaign.yaml --review\n',
    );
    expect(verdictsOf(place)).toEqual({ 'hero@warm': 'picked' });
    expect(existsSync(`${place.lock}.guard`)).toBe(false);
    expect((await place.apply()).code).toBe(5);
    expect(place.service.ledger()).toHaveLength(3);
  });

  test('a saved plan with steps after picks needs --yes without a terminal', async () => {
    const place = await makePlace(manifest);
    const saved = place.start(['plan', 'campaign.yaml', '--out', 'p.plan.json']);
    expect((await saved.ended).code).toBe(0);
    // 4 credits now, and 4 after the picks.
    const unasked = place.start(['apply', 'campaign.yaml', '--review', '--max-credits', '7']);
    expect((await unasked.ended).code).toBe(5);
    expect(unasked.err()).toContain('no approval for 4 credits');
    const run = place.start(['apply', 'p.plan.json', '--yes', '--review', '--poll-interval', '10']);
    const page = await pageOf(run);
    await waits(run, 1);
    await page.judge({ 'hero@warm': 'picked' });
    await waits(run, 2);
    await page.judge({ poster: 'picked' });
    expect((await run.ended).code).toBe(0);
    expect(place.service.ledger()).toHaveLength(4);
  });

  test.each([
    [['--review', '--dry-run'], '0', "'--dry-run' cannot be used with option '--review'"],
    [['--review'], 'any', 'MEDIABATCH_REVIEW_PORT cannot be "any"'],
  ])('refuses %j at port %j', async (words, port, text) => {
    const place = await makePlace(manifest);
    const run = place.start(['apply', 'campaign.yaml', ...words], { MEDIABATCH_REVIEW_PORT: port });
    expect((await run.ended).code).toBe(64);
    expect(run.err()).toContain(text);
    expect(place.service.requests()).toEqual([]);
  });

  test('killed at any write: nothing is paid twice, no confirmed decision is lost, and apply continues', async () => {
    let kills = 0;
    for (let write = 2; write <= 30; write += 3) {
      const place = await makePlace(manifest);
      const { env = {}, preload = '' } = dyingAt({ write, when: write % 2 === 0 ? 'before' : 'after' });
      const run = place.start(live, { ...env, NODE_OPTIONS: `--import ${preload}` });
      let isOver = false;
      void run.ended.then(() => {
        isOver = true;
      });
      const page = await pageOf(run);
      const answered: { [address: string]: string } = {};
      for (const [times, address] of [
        [1, 'hero@warm'],
        [2, 'poster'],
      ] as const) {
        await until(() => isOver || run.err().split('\nwaiting for ').length > times);
        const answer = isOver ? undefined : await page.judge({ [address]: 'picked' }).catch(() => undefined);
        if (answer?.is === 'recorded') answered[address] = 'picked';
      }
      if ((await run.ended).signal === 'SIGKILL') kills += 1;
      expect(findLosses(remainsOf(place)), `write ${write}`).toEqual([]);
      expect(verdictsOf(place), `write ${write}`).toMatchObject(answered);
      const second = place.start(live);
      const again = await pageOf(second);
      let isDone = false;
      void second.ended.then(() => {
        isDone = true;
      });
      while (!isDone) {
        const { groups } = await again.data().catch(() => ({ groups: [] }));
        const open = groups.flatMap(({ name, gate }) => (gate?.state === 'open' ? [name] : []));
        for (const name of open)
          await again.judge({ [name === 'hero' ? 'hero@warm' : name]: 'picked' }).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect((await second.ended).code, `write ${write}: ${second.err()}`).toBe(0);
      expect(place.service.ledger()).toHaveLength(4);
      expect(findLosses(remainsOf(place)), `write ${write}`).toEqual([]);
      await place.remove();
    }
    expect(kills).toBeGreaterThan(5);
  }, 240_000);
});
