import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readLock } from '../../../src/lock/read.ts';
import { command, expectExit } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { serveHere } from '../../rig/listen.ts';
import { blocksOf } from '../../rig/manual-pages.ts';
import { readLockFile } from '../../rig/oracle.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

describe('gates', () => {
  const manifest = `version: 1
name: posters
prices: { image: 2 }
tasks:
  hero: { kind: image, takes: 3, gate: { choose: 1, note: the calm one, reasons: [light, bed] }, with: { prompt: a lamp, resolution: 1k } }
  poster: { kind: image, gate: approve, with: { prompt: a poster, resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
  card: { kind: image, with: { prompt: a card, resolution: 1k, referenceImages: ["{{tasks.poster.url}}"] } }
`;

  const makeCampaign = (text = manifest): Promise<Trial> => makeTrial(text);
  const booked = ({ sandbox }: Trial) => sandbox.ledger().length;

  async function decide(trial: Trial, ...words: string[]): Promise<string> {
    const [command = '', ...rest] = words;
    const { err } = await trial.run([command, 'campaign.yaml', ...rest], { ends: 0 });
    return err;
  }

  async function apply(trial: Trial, code: number, ...words: string[]): Promise<string> {
    const applied = await expectExit(
      code,
      trial.run(['apply', ...(words.length === 0 ? ['campaign.yaml'] : words), '--yes']),
    );
    return applied.err;
  }

  describe('draft, pick, final', () => {
    test('buys drafts, waits with both next commands, and continues with the picks', async () => {
      const trial = await makeCampaign();
      const first = await apply(trial, 5);
      expect(booked(trial)).toBe(3);
      expect(first).toContain(
        'waiting  2 steps until outputs are picked\n         hero: 1 of 3 to be picked (the calm one)\n',
      );
      expect(first).toContain(
        'or to pick by name, as in: mediabatch pick campaign.yaml hero/1\n         then: mediabatch apply campaign.yaml\n',
      );
      expect(first).toContain('to buy replacements instead, as in: mediabatch apply campaign.yaml --redo hero\n');
      expect((await trial.run(['status', 'campaign.yaml'])).out).toContain(
        'gates    1 gate open: hero (3 to review)\n         to review the outputs, and pick by keyboard: mediabatch review campaign.yaml\n         or to pick by name, as in: mediabatch pick campaign.yaml hero/1\n',
      );

      expect(await apply(trial, 5)).toContain('until outputs are picked');
      expect(booked(trial)).toBe(3);

      await decide(trial, 'pick', 'hero/2', '--note', 'calm');
      expect(await apply(trial, 5)).toContain('poster: to be approved');
      expect(booked(trial)).toBe(4);
      await decide(trial, 'pick', 'poster');
      await apply(trial, 0);
      expect(booked(trial)).toBe(5);
      const { steps } = readLockFile(trial.path('campaign.lock.jsonl'));
      const fingerprintOf = (address: string) => steps.get(address)?.purchases[0]?.fingerprint;
      expect(steps.get('poster')?.purchases[0]?.request).toMatchObject({
        referenceImages: [{ $ref: fingerprintOf('hero/2') }],
      });

      // Another one is picked: what was made from the first is done again, and waits for another approval.
      expect(await decide(trial, 'pick', '-s', 'hero/3')).toContain(
        'unchanged hero/3: hero is decided: hero/2; --replace picks this output anyway\nnothing was recorded',
      );
      const misspelt = await trial.run(['reject', 'campaign.yaml', 'hero/1', '--reason', 'licht']);
      expect([misspelt.code, misspelt.err]).toEqual([
        64,
        expect.stringContaining('did you mean `light`? allowed reasons: light, bed; write other words as a note'),
      ]);
      expect(await decide(trial, 'reject', 'hero/2', '--dry-run')).toContain('; gives up poster, card, 4 credits');
      expect(await decide(trial, 'pick', '-s', 'hero/3', '--replace')).toContain(
        '; instead of hero/2; gives up poster, card, 4 credits',
      );
      expect(await apply(trial, 5)).toContain('poster: to be approved');
      expect(booked(trial)).toBe(6);
      // Picked back: everything is there.
      await decide(trial, 'pick', 'hero/2');
      await apply(trial, 0);
      expect(booked(trial)).toBe(6);
      // All rejected, new takes of the same request: nothing is decided about them.
      await decide(trial, 'reject', 'hero', '--note', 'too dark');
      expect(await apply(trial, 0)).toContain('         hero (too dark)\n');
      expect((await trial.run(['status', 'campaign.yaml'])).out).toContain('every gate is decided; rejected: hero');
      expect(await apply(trial, 5, 'campaign.yaml', '--yes', '--redo', 'hero')).toContain('hero: 1 of 3 to be picked');
      expect(booked(trial)).toBe(9);
    });

    test('the printed command buys replacements of a rejected group', async () => {
      const [hero] = manifest.split('  poster:');
      const second = hero?.slice(hero.indexOf('  hero:')).replace('  hero:', '  back:');
      const trial = await makeCampaign(`${hero}${second}`);
      const both = await apply(trial, 0);
      expect(both).toContain('to buy replacements instead, as in: mediabatch apply campaign.yaml --redo hero\n');
      await decide(trial, 'reject', 'hero', 'back');
      expect(await apply(trial, 0)).toContain(
        'to buy replacements: mediabatch apply campaign.yaml --redo hero --redo back\n',
      );
    });

    test('a gate without dependents is shown and does not block: exit 0', async () => {
      const [hero] = manifest.split('  poster:');
      const trial = await makeCampaign(hero);
      const done = await apply(trial, 0);
      expect(done).toContain('gates  1 gate is open, and no step waits for a pick\n       hero: 1 of 3 to be picked');
      expect(done).toContain('or to pick by name, as in: mediabatch pick campaign.yaml hero/1\n');
      await decide(trial, 'pick', 'hero/2');
      expect(await apply(trial, 0)).not.toContain('gates');
      expect(booked(trial)).toBe(3);
    });

    test('a saved plan contains steps after a gate: picks do not make it stale, and it buys them once', async () => {
      const trial = await makeCampaign();
      const saved = await trial.run(['plan', 'campaign.yaml', '--out', 'p.plan.json'], { ends: 0 });
      expect(saved.out).toContain('after picks   at most 4 credits, for 2 steps that wait');
      const document = JSON.parse(readFileSync(trial.path('p.plan.json'), 'utf8'));
      expect(document.saved.afterPicks).toEqual({ poster: { generation: 1 }, card: { generation: 1 } });
      await apply(trial, 5, 'p.plan.json');
      await decide(trial, 'pick', 'hero/1');
      await apply(trial, 5, 'p.plan.json');
      await decide(trial, 'pick', 'poster');
      await apply(trial, 0, 'p.plan.json');
      expect(booked(trial)).toBe(5);
      await decide(trial, 'pick', 'hero/2');
      const stale = await trial.run(['apply', 'p.plan.json']);
      expect(stale.code).not.toBe(0);
      expect(stale.err).toContain('MB3102');
      expect(booked(trial)).toBe(5);

      // Of an approval the requests know nothing; without it nobody would be asked.
      trial.write('campaign.yaml', manifest.replace('gate: approve, ', ''));
      const ungated = await trial.run(['apply', 'p.plan.json']);
      expect(ungated.err).toContain('MB3102');
      expect(ungated.err).toContain('the manifest, its data, its files or its variables changed');
      trial.write('campaign.yaml', manifest);

      // What could be bought at once is nothing that follows a pick.
      const hidden = JSON.parse(JSON.stringify(document));
      const row = hidden.rows.find(({ address }: { address: string }) => address === 'hero/1');
      Object.assign(row, { action: 'blocked', blockedBy: 'gate', credits: 0, wouldCost: 2 });
      Object.assign(hidden.totals, {
        toSpend: 4,
        ceiling: 4,
        knownPrices: 4,
        afterPicks: { ...hidden.totals.afterPicks, steps: 3, credits: 6, likely: 6 },
      });
      delete hidden.totals.estimate;
      delete hidden.saved.purchases['hero/1'];
      hidden.saved.afterPicks['hero/1'] = { generation: 1 };
      trial.write('hidden.plan.json', JSON.stringify(hidden));
      const early = await trial.run(['apply', 'hidden.plan.json']);
      expect(early.err).toContain('hero/1 depends on no gate that the plan shows as open');

      const text = JSON.stringify({ ...document, totals: { ...document.totals, afterPicks: undefined } });
      trial.write('q.plan.json', text);
      const forged = await trial.run(['apply', 'q.plan.json']);
      expect(forged.err).toContain('the steps after its gates do not add up to their total');
    });
  });

  test('an unpicked output of a decided gate is downloaded again only once it is picked', async () => {
    const trial = await makeCampaign();
    await apply(trial, 5);
    await decide(trial, 'reject', 'hero/1');
    await decide(trial, 'pick', 'hero/2');
    await apply(trial, 5);
    await decide(trial, 'pick', 'poster');
    await apply(trial, 0);
    const { steps } = readLockFile(trial.path('campaign.lock.jsonl'));
    const losers = ['hero/1', 'hero/3'].map((address) =>
      trial.path(steps.get(address)?.purchases[0]?.outputs?.[0]?.path ?? ''),
    );
    for (const path of losers) rmSync(path);

    const planned = await trial.run(['plan', 'campaign.yaml', '--json']);
    const rows: { address: string; action: string; reason: { code: string } }[] = JSON.parse(planned.out).rows;
    expect(rows.filter(({ action }) => action !== 'keep')).toEqual([]);
    expect(rows.find(({ address }) => address === 'hero/1')?.reason.code).toBe('unpicked');
    await apply(trial, 0);
    expect(losers.map(existsSync)).toEqual([false, false]);
    expect((await trial.run(['status', 'campaign.yaml'])).out).not.toContain('missing');

    const before = booked(trial);
    await decide(trial, 'pick', 'hero/3');
    await apply(trial, 5);
    expect(losers.map(existsSync)).toEqual([false, true]);
    await decide(trial, 'pick', 'hero/3', '--undo');
    await apply(trial, 5);
    // A rejected one stays away; the others are to be seen.
    expect(losers.map(existsSync)).toEqual([false, true]);
    await decide(trial, 'pick', 'hero/1', '--undo');
    await apply(trial, 5);
    expect(losers.map(existsSync)).toEqual([true, true]);
    expect(booked(trial) - before).toBe(1);
  });
});

describe('canaries', () => {
  const manifest = `version: 1
name: posters
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [lamp, rug, vase], canary: 1, expect: { type: image }, with: { prompt: "a {{row}}", resolution: 1k } }
  card: { kind: image, foreach: [lamp, rug, vase], canary: { then: ask }, with: { prompt: "card {{row}}", resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
`;

  const makeCampaign = (text = manifest): Promise<Trial> => makeTrial(text);
  const booked = ({ sandbox }: Trial) => sandbox.ledger().length;

  async function apply(trial: Trial, code: number, ...words: string[]): Promise<string> {
    const applied = await expectExit(
      code,
      trial.run(['apply', ...(words.length === 0 ? ['campaign.yaml', '--yes'] : words)]),
    );
    return applied.out + applied.err;
  }

  test('buys the canary, then the others; waits at the next one, and continues after the pick', async () => {
    const trial = await makeCampaign();
    const planned = await trial.run(['plan', 'campaign.yaml', '--json']);
    const rows = JSON.parse(planned.out).rows as { address: string; canary?: true; canaries?: string[] }[];
    expect(rows.map(({ address, canary, canaries }) => [address, canary ?? canaries ?? 'waits'])).toEqual([
      ['hero@lamp', true],
      ['hero@rug', ['hero@lamp']],
      ['hero@vase', ['hero@lamp']],
      ['card@lamp', true],
      ['card@rug', 'waits'],
      ['card@vase', 'waits'],
    ]);
    expect((await trial.run(['plan', 'campaign.yaml', '--format', 'markdown'])).out).toContain(
      'not bought yet; after its canary hero@lamp',
    );
    expect((await trial.run(['explain', 'campaign.yaml', 'hero@rug'])).out).toMatch(/waits for +hero@lamp\n/);
    expect((await trial.run(['explain', 'campaign.yaml', '--origins'])).out).toContain('then: ask');

    const first = await apply(trial, 5);
    expect(booked(trial)).toBe(4);
    expect(first).toContain('canary of card: card@lamp to be picked');
    expect(first).toMatch(/to pick by name, as in: mediabatch pick campaign.yaml card@lamp\n {9}then: /);
    expect(first).toMatch(/to buy replacements instead, as in: mediabatch apply campaign.yaml --redo card@lamp/);
    expect((await trial.run(['status', 'campaign.yaml'])).out).toContain('1 gate open: canary of card (1 to review)');
    const other = await trial.run(['pick', 'campaign.yaml', 'hero@rug']);
    expect([other.code, other.err]).toEqual([64, expect.stringContaining('has no gate')]);

    expect((await trial.run(['reject', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
    expect(await apply(trial, 5)).toMatch(/rejected .*\n *canary of card\n/);
    expect(booked(trial)).toBe(4);
    await apply(trial, 5, 'campaign.yaml', '--yes', '--redo', 'card@lamp');
    expect(booked(trial)).toBe(5);
    expect((await trial.run(['pick', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
    await apply(trial, 0);
    expect(booked(trial)).toBe(7);

    // A new row needs no new answer; another template does.
    trial.write('campaign.yaml', manifest.replaceAll('[lamp', '[cup, lamp'));
    await apply(trial, 0);
    expect(booked(trial)).toBe(9);
    trial.write('campaign.yaml', manifest.replace('"card {{row}}"', '"new card {{row}}"'));
    await apply(trial, 5);
    expect(booked(trial)).toBe(10);
  });

  test('a saved plan continues where it stopped, and includes its canaries', async () => {
    const trial = await makeCampaign();
    await trial.run(['plan', 'campaign.yaml', '--out', 'p.plan.json'], { ends: 0 });
    trial.write('campaign.yaml', manifest.replace('canary: 1, ', ''));
    expect(await apply(trial, 65, 'p.plan.json')).toContain('MB3102');
    expect(booked(trial)).toBe(0);
    trial.write('campaign.yaml', manifest);
    await apply(trial, 5, 'p.plan.json', '--yes');
    expect(booked(trial)).toBe(4);
    expect((await trial.run(['pick', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
    await apply(trial, 0, 'p.plan.json', '--yes');
    expect(booked(trial)).toBe(6);
  });
});

describe('sandbox', () => {
  const manifest = `version: 1
name: films
tasks:
  say: { kind: voiceover, takes: 2, with: { text: Hello from the workshop, voice_id: Aria } }
  pic: { kind: image, with: { prompt: a dog, resolution: 1k } }
  next: { kind: image, with: { prompt: a cat, resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] } }
`;

  describe('against the service', () => {
    test('a lost lock: paid jobs are adopted, and nothing is bought twice', async () => {
      const trial = await makeTrial(manifest);
      expect((await trial.apply()).code).toBe(0);
      const { lock } = readLock('lock', readFileSync(trial.path('campaign.lock.jsonl')));
      const jobOf = (address: string) => lock.steps.get(address)?.purchases[0]?.jobId ?? '';
      rmSync(trial.path('campaign.lock.jsonl'));
      // On another machine, whose purchase journal is empty.
      const elsewhere = { env: { XDG_STATE_HOME: trial.path('elsewhere') } };
      const adopted = await expectExit(0, trial.run(['adopt', 'campaign.yaml', '--yes'], elsewhere));
      expect(adopted.err).toContain(`adopted say/1: job ${jobOf('say/1')}`);
      // The pictures are in no list. A lock without them would count as complete.
      expect(adopted.err).toMatch(/not in the lock: nothing can be bought[\s\S]*2 outputs exist/);
      expect(adopted.err).toContain('record unlisted jobs by id: `adopt ADDRESS --job ID`');
      expect(adopted.err).not.toContain('mediabatch adopt');
      expect(adopted.err).toMatch(/^2 steps recorded in the purchase journal of this machine; 0 credits$/m);
      expect(existsSync(trial.path('campaign.lock.jsonl'))).toBe(false);
      expect((await trial.apply([], elsewhere)).code).toBe(65);
      for (const address of ['pic', 'next']) {
        const words = ['adopt', 'campaign.yaml', address, '--job', jobOf(address), '--credits', '2'];
        await expectExit(0, trial.run(words, elsewhere));
      }
      const wrong = await trial.run(['adopt', 'campaign.yaml', 'pic', '--job', jobOf('say/1')], elsewhere);
      expect(wrong.code).toBe(64);
      const before = trial.sandbox.ledger().length;
      await expectExit(0, trial.apply([], elsewhere));
      expect(trial.sandbox.ledger()).toHaveLength(before);
      const collected = readLock('lock', readFileSync(trial.path('campaign.lock.jsonl'))).lock;
      for (const [address, { purchases }] of lock.steps) {
        expect(collected.steps.get(address)?.purchases[0]).toMatchObject({
          state: 'done',
          jobId: purchases[0]?.jobId,
          outputs: purchases[0]?.outputs,
        });
      }
    });
  });
});

describe('judge recipe', () => {
  const manifest = `version: 1
name: judged
tasks:
  draft:
    kind: image
    foreach: [lamp, vase]
    takes: 3
    gate: { choose: 1 }
    with: { prompt: "{{row}}", resolution: 1k }
`;

  /** A model that knows what it likes of lamps, and of vases always says the first. */
  async function standInJudge(asked: string[]) {
    const url = await serveHere(async (request, response) => {
      const { prompt, pictures } = (await json(request)) as { prompt: string; pictures: [string, string] };
      asked.push(prompt);
      const isFirst = prompt.includes('vase') || pictures[0] > pictures[1];
      response.end(JSON.stringify({ better: isFirst ? 1 : 2 }));
    });
    return `${url}/`;
  }

  test('the judge of the manual picks winners in both orders, and leaves others to reviewers', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'campaign.yaml'), manifest);
    const run = async (...words: string[]) => {
      const said = await command([...words, '--sandbox'], { cwd: folder });
      expect([0, 5], said.err).toContain(said.code);
      return said.out;
    };
    await run('apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10');
    const takes = await run('outputs', '-s', 'draft', '--format', 'json');
    const [recipe] = blocksOf('gates', 'js');
    writeFileSync(join(folder, 'judge.mjs'), recipe?.text ?? '');
    const asked: string[] = [];
    const env = { ...process.env, JUDGE_URL: await standInJudge(asked) };
    const judging = promisify(execFile)(process.execPath, ['judge.mjs'], { cwd: folder, env });
    judging.child.stdin?.end(takes);
    const picks = (await judging).stdout;
    expect(asked).toHaveLength(12);
    writeFileSync(join(folder, 'picks.json'), picks);
    const files = JSON.parse(takes).files as { address: string; path: string; job: string }[];
    const liked = files
      .filter(({ address }) => address.startsWith('draft@lamp'))
      .sort((a, b) => (base64(folder, a.path) > base64(folder, b.path) ? -1 : 1))[0];
    expect(JSON.parse(picks)).toEqual({
      mediabatch: 'picks',
      version: 1,
      by: 'judge',
      verdicts: [{ address: liked?.address, is: 'picked', job: liked?.job, note: '2 of 2 pairs, in both orders' }],
    });
    await run('pick', '--from', 'picks.json');
    const after = JSON.parse(await run('outputs', '-s', 'draft', '--picked', '--format', 'json')).files;
    expect(after).toMatchObject([{ address: liked?.address, verdict: { is: 'picked', by: 'judge' } }]);
  });

  function base64(folder: string, path: string): string {
    return readFileSync(join(folder, path), 'base64');
  }
});
