import { existsSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readLockFile } from '../../rig/oracle.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

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
  const { code, err } = await trial.run([command, 'campaign.yaml', ...rest]);
  expect(code, err).toBe(0);
  return err;
}

async function apply(trial: Trial, code: number, ...words: string[]): Promise<string> {
  const applied = await trial.run(['apply', ...(words.length === 0 ? ['campaign.yaml'] : words), '--yes']);
  expect(applied.code, applied.err).toBe(code);
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
    expect(first).toContain('to buy others instead, as in: mediabatch apply campaign.yaml --redo hero\n');
    expect((await trial.run(['status', 'campaign.yaml'])).out).toContain(
      'gates    1 gate open: hero (3 to see)\n         to review them, and pick by keyboard: mediabatch review campaign.yaml\n         or to pick by name, as in: mediabatch pick campaign.yaml hero/1\n',
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

    // Another one is picked: what was made from the first is done again, and waits to be approved anew.
    expect(await decide(trial, 'pick', '-s', 'hero/3')).toContain(
      'unchanged hero/3: hero is decided: hero/2; --replace picks all the same\nnothing was recorded',
    );
    const misspelt = await trial.run(['reject', 'campaign.yaml', 'hero/1', '--reason', 'licht']);
    expect([misspelt.code, misspelt.err]).toEqual([
      64,
      expect.stringContaining('did you mean `light`? its reasons: light, bed; other words go into --note'),
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
    expect(both).toContain('to buy others instead, as in: mediabatch apply campaign.yaml --redo hero\n');
    await decide(trial, 'reject', 'hero', 'back');
    expect(await apply(trial, 0)).toContain('to buy others: mediabatch apply campaign.yaml --redo hero --redo back\n');
  });

  test('a gate without dependents is shown and does not block: exit 0', async () => {
    const [hero] = manifest.split('  poster:');
    const trial = await makeCampaign(hero);
    const done = await apply(trial, 0);
    expect(done).toContain('gates  1 gate is open, and nothing waits\n       hero: 1 of 3 to be picked');
    expect(done).toContain('or to pick by name, as in: mediabatch pick campaign.yaml hero/1\n');
    await decide(trial, 'pick', 'hero/2');
    expect(await apply(trial, 0)).not.toContain('gates');
    expect(booked(trial)).toBe(3);
  });

  test('refused takes are not offered for a pick', async () => {
    const text = `version: 1
name: posters
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b], takes: 3, gate: { choose: 1 }, with: { prompt: "a lamp {{row}}", resolution: 1k } }
  poster: { kind: image, foreach: [a, b], with: { prompt: a poster, referenceImages: ["{{tasks.hero.url}}"] } }
`;
    const trial = await makeTrial(text, { service: { credits: 6 } });
    const err = await apply(trial, 4, 'campaign.yaml', '--concurrency', '1');
    expect(err).toContain('refused, nothing was charged');
    expect(err).toContain('hero@a: 1 of 3 to be picked');
    expect(err).not.toContain('hero@b: 1 of 3 to be picked');
  });

  test('a saved plan contains steps after a gate: picks do not make it stale, and it buys them once', async () => {
    const trial = await makeCampaign();
    const saved = await trial.run(['plan', 'campaign.yaml', '--out', 'p.plan.json']);
    expect(saved.code, saved.err).toBe(0);
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
    expect(early.err).toContain('hero/1 depends on none of the gates that the plan shows as open');

    const text = JSON.stringify({ ...document, totals: { ...document.totals, afterPicks: undefined } });
    trial.write('q.plan.json', text);
    const forged = await trial.run(['apply', 'q.plan.json']);
    expect(forged.err).toContain('what follows its gates does not add up to its total');
  });
});

test('picks of several reviewers are recorded where they agree, and reported where not', async () => {
  const trial = await makeCampaign();
  await apply(trial, 5);
  const picks = (by: string, address: string) =>
    JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts: [{ address, is: 'picked' }] });
  trial.write('ada.json', picks('Ada', 'hero/1'));
  trial.write('bo.json', picks('Bo', 'hero/2'));
  const differ = await trial.run(['pick', 'campaign.yaml', '--from', 'ada.json', '--from', 'bo.json']);
  expect(differ.err).toContain('hero/1: the reviewers disagree, so the group stays open: Ada: picked');
  expect(differ.err).toContain('nothing was recorded');
  const recorded = await decide(trial, 'pick', '--from', 'ada.json');
  expect(recorded).toContain('picked hero/1: by Ada, job');
  expect(recorded).toMatch(/to continue: .*apply campaign\.yaml/);
  trial.write('odd.json', '{"mediabatch":"picks","version":1,"verdicts":[{"address":"hero/1","is":"fine"}]}');
  expect((await trial.run(['pick', 'campaign.yaml', '--from', 'odd.json'])).code).toBe(64);
  // A name becomes part of the note, so a lock with it could not be read any more.
  const noted = (by: string) =>
    JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts: [{ address: 'hero/1', is: 'picked', note: 'n' }] });
  for (const by of ['\u001b[31mEve\n', '', 'x'.repeat(101), '\ud83d']) {
    trial.write('eve.json', noted(by));
    const refused = await trial.run(['pick', 'campaign.yaml', '--from', 'eve.json', '--from', 'ada.json']);
    expect([refused.code, refused.err]).toEqual([64, expect.stringContaining('has no usable name in "by"')]);
  }
  trial.write(
    'both.json',
    JSON.stringify({
      mediabatch: 'picks',
      version: 1,
      by: 'Cy',
      verdicts: [
        { address: 'hero/1', is: 'rejected' },
        { address: 'hero/2', is: 'picked' },
      ],
    }),
  );
  const both = await decide(trial, 'pick', '--from', 'both.json', '--dry-run');
  expect(both).toMatch(/would reject hero\/1: by Cy, job .*; it was picked\n/);
  trial.write('none.json', picks('Di', 'hero/1').replace('"picked"', '"rejected"'));
  const none = await decide(trial, 'pick', '--from', 'none.json', '--dry-run');
  expect(none).toContain('; it was picked, and hero is open again');
  expect(both).not.toContain('instead of');
  // Two of three: the one that is rejected makes room for the third.
  trial.write('campaign.yaml', manifest.replace('choose: 1', 'choose: 2').replace(/ {2}poster[\s\S]*/, ''));
  await decide(trial, 'pick', 'hero/3');
  await decide(trial, 'pick', '--from', 'both.json');
  const { steps } = readLockFile(trial.path('campaign.lock.jsonl'));
  const verdicts = ['hero/1', 'hero/2', 'hero/3'].map((address) => steps.get(address)?.decisions?.verdicts?.[0]?.is);
  expect(verdicts).toEqual(['rejected', 'picked', 'picked']);
  await decide(trial, 'pick', 'hero', '--undo');
  trial.write('campaign.yaml', manifest);
  await decide(trial, 'pick', 'hero/1');
  const two = await trial.run(['pick', 'campaign.yaml', 'hero/2', 'hero/3']);
  expect([two.code, two.err]).toEqual([
    64,
    expect.stringContaining('hero can have only 1 pick, but 2 of its outputs are named'),
  ]);
  const lock = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
  expect(await decide(trial, 'pick', 'hero/3', '--dry-run')).toContain('instead of hero/1');
  expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(lock);
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
