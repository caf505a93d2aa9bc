import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ServiceOptions } from '../rig/service-here.ts';
import { makeTrial, type Trial, withFaults } from '../rig/trial.ts';

const csv = 'sku,name\na,Lamp\nb,Chair\nc,Vase\nd,Clock\n';
const manifest = `version: 1
name: shop
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with: { prompt: "{{row.name}} on a table", resolution: 1k }
    save: images/{{row.sku}}
  song: { kind: music, with: { model: song-7.5, prompt: calm, output_format: wav } }
`;

async function shop(options: { service?: ServiceOptions } = {}): Promise<Trial> {
  const trial = await makeTrial(manifest, options);
  trial.write('products.csv', csv);
  return trial;
}

function expectPaidOnce(trial: Trial, count: number): void {
  const keys = trial.sandbox.ledger().map(({ key }) => key);
  expect(keys).toHaveLength(count);
  expect(new Set(keys).size).toBe(count);
}

const slow = { service: { speed: 4 } };
const attached = (trial: Trial) =>
  trial.events().filter(({ event, action }) => event === 'step-started' && action === 'attach');

describe('a rerun pays nothing again', () => {
  test('nothing changed: exit 0, no request, no byte of the lock changed', async () => {
    const trial = await shop();
    const first = await trial.apply();
    expect(first.code, first.err).toBe(0);
    expect(readdirSync(trial.path('images')).sort()).toEqual(['a.png', 'b.png', 'c.png', 'd.png']);
    const lock = readFileSync(trial.path('campaign.lock.jsonl'));
    await trial.sandbox.close();
    // With nobody listening any request would fail, and without a key none could be made.
    const again = await trial.apply([], { env: { MEDIABATCH_API_KEY: '' } });
    expect(again.code, again.err).toBe(0);
    expect(readFileSync(trial.path('campaign.lock.jsonl'))).toEqual(lock);
  });

  test('after Ctrl-C: exit 130, running jobs are listed, and collected by the next run', async () => {
    const trial = await shop(slow);
    let asked = false;
    const first = await trial.apply(['-v'], {
      onErr: (_seen, child) => {
        if (asked || trial.sandbox.ledger().length === 0) return;
        asked = true;
        child.kill('SIGINT');
      },
    });
    expect(first.code).toBe(130);
    expect(first.err).toMatch(/jobs? still running, paid/);
    const bought = trial.sandbox.ledger().length;
    expect(bought).toBeGreaterThan(0);
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expectPaidOnce(trial, 5);
  });

  test('after SIGKILL in the middle', async () => {
    const trial = await shop(slow);
    const first = await trial.apply(['-v'], {
      onErr: (_seen, child) => {
        if (trial.sandbox.ledger().length > 2) child.kill('SIGKILL');
      },
    });
    expect(first.signal).toBe('SIGKILL');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('took over');
    expect(attached(trial).length).toBeGreaterThan(0);
    expectPaidOnce(trial, 5);
  });

  test('after an answer that was lost on the wire', async () => {
    const trial = await shop(withFaults([{ on: 'create', nth: 2, do: { type: 'reset', booked: true } }]));
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expectPaidOnce(trial, 5);
  });

  test('after an answer that was somebody else’s page (captive portal), before and after booking', async () => {
    const trial = await shop(
      withFaults([
        { on: 'create', nth: 1, do: { type: 'html', booked: true } },
        { on: 'create', nth: 3, do: { type: 'status', status: 502, booked: true } },
      ]),
    );
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expectPaidOnce(trial, 5);
  });

  test('with a deleted output: it is fetched again', async () => {
    const trial = await shop();
    await trial.apply();
    const picture = readFileSync(trial.path('images/b.png'));
    rmSync(trial.path('images/b.png'));
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(readFileSync(trial.path('images/b.png'))).toEqual(picture);
    expectPaidOnce(trial, 5);
  });

  test('with an edited output: the edit is kept beside it', async () => {
    const trial = await shop();
    await trial.apply();
    writeFileSync(trial.path('images/b.png'), 'my edit');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    const aside = readdirSync(trial.path('images')).find((name) => name.includes('changed'));
    expect(readFileSync(trial.path(`images/${aside}`), 'utf8')).toBe('my edit');
    expectPaidOnce(trial, 5);
  });

  test('with a renamed task: nothing is asked, nothing is paid', async () => {
    const trial = await shop();
    await trial.apply();
    const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    trial.write('campaign.yaml', manifest.replace('hero:', 'portrait:'));
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(before.replaceAll('"hero@', '"portrait@'));
    expectPaidOnce(trial, 5);
  });

  test('with rows in another order, and one more', async () => {
    const trial = await shop();
    await trial.apply();
    trial.write('products.csv', 'name,sku\nClock,d\nVase,c\nBench,e\nChair,b\nLamp,a\n');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expectPaidOnce(trial, 6);
  });

  test('without its lock, within a day: the service hands the same jobs out again', async () => {
    const trial = await shop();
    await trial.apply();
    const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    rmSync(trial.path('campaign.lock.jsonl'));
    rmSync(trial.path('images'), { recursive: true });
    rmSync(trial.path('output'), { recursive: true });
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(before);
    expectPaidOnce(trial, 5);
  });

  test('in a second clone: the same jobs', async () => {
    const trial = await shop();
    await trial.apply();
    const other = await makeTrial(manifest);
    other.write('products.csv', csv);
    // On a machine of its own: the purchase journal of the first one is not there.
    const { XDG_STATE_HOME = '' } = other.sandbox.env;
    const again = await other.apply([], { env: { ...trial.sandbox.env, XDG_STATE_HOME } });
    expect(again.code, again.err).toBe(0);
    expect(readFileSync(other.path('campaign.lock.jsonl'), 'utf8')).toBe(
      readFileSync(trial.path('campaign.lock.jsonl'), 'utf8'),
    );
    expectPaidOnce(trial, 5);
  });

  test('two runs at once: the second waits its time and names the first', async () => {
    // So slow that the second has begun before the first is done, however busy the machine is.
    const trial = await shop({ service: { speed: 1 } });
    let second: Promise<{ code: number | null; err: string }> | undefined;
    const first = await trial.apply(['-v'], {
      onErr: () => {
        if (second === undefined && trial.sandbox.ledger().length > 0) second = trial.apply(['--lock-timeout', '0']);
      },
    });
    expect(first.code, first.err).toBe(0);
    const { code, err } = (await second) ?? { code: null, err: '' };
    expect(code).toBe(75);
    expect(err).toMatch(/another run holds campaign.lock.jsonl: process \d+/);
    expectPaidOnce(trial, 5);
  });

  test('with a lock that git put back in the middle of a run: both are joined, no id is lost', async () => {
    const trial = await shop(slow);
    const empty = '{"mediabatch":"lock","version":2}\n';
    let swapped = false;
    const first = await trial.apply(['-v'], {
      onErr: () => {
        if (swapped || trial.sandbox.ledger().length < 3) return;
        swapped = true;
        writeFileSync(trial.path('other'), empty);
        renameSync(trial.path('other'), trial.path('campaign.lock.jsonl'));
      },
    });
    expect(swapped).toBe(true);
    expect([0, 73]).toContain(first.code);
    const recorded = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    for (const { id } of trial.sandbox.ledger()) expect(recorded).toContain(id);
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expectPaidOnce(trial, 5);
  });

  test('with a torn last line', async () => {
    const trial = await shop();
    await trial.apply();
    const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    writeFileSync(trial.path('campaign.lock.jsonl'), `${before}{"kind":"image","addre`);
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('MB2004');
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(before);
    expectPaidOnce(trial, 5);
  });

  test('with merge conflict markers in the lock', async () => {
    const trial = await shop();
    await trial.apply();
    const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    const [header, ...records] = before.trimEnd().split('\n');
    const conflicted = [
      header,
      '<<<<<<< ours',
      ...records.slice(0, 3),
      '=======',
      ...records.slice(2),
      '>>>>>>> theirs',
      '',
    ];
    writeFileSync(trial.path('campaign.lock.jsonl'), conflicted.join('\n'));
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('MB2004');
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(before);
    expectPaidOnce(trial, 5);
  });

  test('with a damaged line in the middle, or a lock of the future: exit 65, nothing sent, nothing changed', async () => {
    const trial = await shop();
    await trial.apply();
    const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    trial.write('products.csv', `${csv}e,Bench\n`);
    const broken = before.replace(/"hero@b".*/, '"hero@b", oh');
    for (const [text, code] of [
      [broken, 'MB2001'],
      [before.replace(/"version":\d+/, '"version":99'), 'MB2002'],
    ] as const) {
      writeFileSync(trial.path('campaign.lock.jsonl'), text);
      const again = await trial.apply();
      expect(again.code).toBe(65);
      expect(again.err).toContain(code);
      expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(text);
    }
    expectPaidOnce(trial, 5);
  });

  test('against another service: refused, with the way on', async () => {
    const trial = await shop();
    await trial.apply();
    const other = await makeTrial(manifest);
    const again = await trial.apply([], { env: other.sandbox.env });
    expect(again.code).toBe(65);
    expect(again.err).toContain('--lock');
    expect(other.sandbox.ledger()).toHaveLength(0);
    const own = await trial.apply(['--lock', 'other.lock.jsonl', '--new'], { env: other.sandbox.env });
    expect(own.code, own.err).toBe(0);
  });

  test('with a moved campaign folder', async () => {
    const trial = await shop();
    await trial.apply();
    renameSync(trial.path('campaign.yaml'), trial.path('spring.yaml'));
    renameSync(trial.path('campaign.lock.jsonl'), trial.path('spring.lock.jsonl'));
    const again = await trial.run(['apply', 'spring.yaml', '--yes']);
    expect(again.code, again.err).toBe(0);
    expectPaidOnce(trial, 5);
    expect(existsSync(trial.path('campaign.lock.jsonl'))).toBe(false);
  });
});
