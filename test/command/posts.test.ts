import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Booking } from '../rig/oracle.ts';
import { killAt, makeTrial, type Trial, withFaults } from '../rig/trial.ts';

/** The Instagram account of every sandbox. */
const account = 'acc_a26a6b25c78b1c8d';
const manifest = `version: 1
name: shop
budget: { credits: 50 }
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    tags: [launch]
    foreach: [a, b]
    with: { accountIds: [${account}], caption: "Hello {{row}}", media: ["{{tasks.hero.url}}"] }
`;
const alone = `version: 1
name: shop
tasks:
  share: { kind: post, with: { accountIds: [${account}], caption: Hello } }
`;

const lock = 'campaign.lock.jsonl';
const name = 'shop.plan.json';

const captions = ({ sandbox }: Trial) =>
  (sandbox.ledger() as Booking[]).flatMap(({ kind, body }) => (kind === 'post' ? [body.caption] : []));

/** All of it is out. */
async function posted(text = manifest): Promise<Trial> {
  const trial = await makeTrial(text);
  await trial.apply(['--publish'], { ends: 0 });
  return trial;
}

test('a scheduled post whose text changed since is still counted as scheduled', async () => {
  const later = manifest.replace('caption:', 'scheduledAt: "2099-05-01T09:00:00+02:00", caption:');
  const trial = await posted(later);
  trial.write('campaign.yaml', later.replace('[a, b]', '[a, b, c]').replace('Hello {{row}}', 'Hi {{row}}'));
  expect((await trial.run(['status', 'campaign.yaml'])).out).toContain('posts    2 scheduled\n');
});

describe('publishing needs its own consent', () => {
  test('neither a budget nor --yes publishes; everything else is done', async () => {
    const trial = await makeTrial(manifest);
    const plan = await trial.run(['plan', 'campaign.yaml']);
    expect(plan.out).toContain(`publishes     2 posts to account ${account}, at once\n`);
    const covered = manifest.replace('tasks:', 'prices: { image: 2 }\ntasks:');
    trial.write('campaign.yaml', covered);
    const first = await trial.run(['apply', 'campaign.yaml', '--yes'], { ends: 5 });
    expect(trial.sandbox.ledger().map(({ kind }) => kind)).toEqual(['image']);
    expect(first.err).toContain('posts     2 wait for consent\n');
    expect(
      first.err,
    ).toContain(`waiting  2 posts to Instagram @sandbox.studio, at once: publishing needs its own consent
         share@a, share@b
         to have the posts approved in an interactive terminal: mediabatch plan campaign.yaml --out campaign.plan.json
         to publish the posts: mediabatch apply campaign.yaml --yes --publish
`);
    const second = await trial.apply([], { ends: 5 });
    expect(second.err).toContain('mediabatch apply campaign.yaml --yes --publish\n');
    expect(captions(trial)).toEqual([]);
    // No credits are asked for: there is no budget needed, and no --yes.
    await trial.run(['apply', 'campaign.yaml', '--publish'], { ends: 0 });
    expect(captions(trial).sort()).toEqual(['Hello a', 'Hello b']);
    expect((await trial.run(['status', 'campaign.yaml'])).out).toContain('posts    2 posted\n');
  });

  test('a saved plan with posts is no consent; with consent they are published once', async () => {
    const trial = await makeTrial(alone);
    expect((await trial.run(['plan', 'campaign.yaml', '--out', name])).code).toBe(0);
    const document = JSON.parse(readFileSync(trial.path(name), 'utf8'));
    expect(document).toMatchObject({
      rows: [{ post: { accounts: [account] } }],
      totals: { posts: 1 },
      saved: { publishes: ['share'] },
    });
    // One that shows the post somewhere else was agreed to for something else.
    const elsewhere = structuredClone(document);
    elsewhere.rows[0].post.accounts = ['somebody-else'];
    trial.write('elsewhere.plan.json', JSON.stringify(elsewhere));
    expect((await trial.run(['apply', 'elsewhere.plan.json', '--yes'])).code).toBe(5);
    expect(captions(trial)).toEqual([]);
    // Somebody has edited it: nobody was told that it publishes.
    delete document.saved.publishes;
    trial.write('old.plan.json', JSON.stringify(document));
    const old = await trial.run(['apply', 'old.plan.json', '--yes'], { ends: 5 });
    expect(old.err).toContain('mediabatch apply old.plan.json --yes --publish\n');
    expect(captions(trial)).toEqual([]);
    for (const args of [
      [name, '--publish'],
      [name, '--publish'],
      ['old.plan.json', '--publish', '--yes'],
    ]) {
      await trial.run(['apply', ...args], { ends: 0 });
      expect(captions(trial)).toEqual(['Hello']);
    }
    expect((await trial.run(['forget', 'campaign.yaml', 'share'])).err).toContain('is not posted again');
    expect((await trial.run(['apply', name, '--publish'])).code).toBe(0);
    expect(captions(trial)).toEqual(['Hello']);
  });

  test('without consent, steps after a post wait, too, and failures are printed first', async () => {
    const error = { success: false, error: 'no such prompt' };
    const refusal = { on: 'create', match: 'vase', do: { type: 'status', status: 400, body: error } };
    const text = `${manifest}  after: { kind: image, needs: [share], with: { prompt: after, resolution: 1k } }
  other: { kind: image, with: { prompt: a vase, resolution: 1k } }
`;
    const trial = await makeTrial(text, withFaults([refusal]));
    const first = await trial.apply(['--json'], { ends: 3 });
    const isBlocked = ({ state }: { state?: string }) => state === 'blocked';
    expect(JSON.parse(first.out).rows.filter(isBlocked)).toMatchObject([
      { address: 'share@a', because: 'consent', post: { accounts: [account] } },
      { address: 'share@b', because: 'consent' },
      { address: 'after', because: 'consent' },
    ]);
    expect(first.err).toContain('waiting  2 posts to ');
    const second = await trial.apply(['--exclude', 'other'], { ends: 5 });
    expect(second.err).toContain('mediabatch apply campaign.yaml --exclude other --yes --publish\n');
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });
});

describe('a published post is never sent again', () => {
  test.each<[string, (trial: Trial) => unknown, string[]?]>([
    ['a typo is corrected', ({ write }) => write('campaign.yaml', manifest.replace('Hello', 'Hallo'))],
    ['its image is regenerated', ({ write }) => write('campaign.yaml', manifest.replace('a lamp', 'a vase'))],
    ['its account changes', ({ write }) => write('campaign.yaml', manifest.replace(account, 'acc_0'))],
    ['its task is renamed', ({ write }) => write('campaign.yaml', manifest.replace('share:', 'tell:'))],
    ['its keys change', ({ write }) => write('campaign.yaml', keyed)],
    ['it is forgotten', ({ run }) => run(['forget', 'campaign.yaml', 'share@a', 'share@b'])],
    [
      'it is forgotten, renamed and renamed back',
      async ({ run, write, apply }) => {
        await run(['forget', 'campaign.yaml', 'share@a', 'share@b']);
        write('campaign.yaml', manifest.replace('share:', 'tell:'));
        await apply(['--publish']);
        write('campaign.yaml', manifest);
      },
    ],
    [
      'its task is removed for a while',
      async ({ apply, write }) => {
        write('campaign.yaml', manifest.slice(0, manifest.indexOf('  share:')));
        await apply(['--publish']);
        write('campaign.yaml', manifest.replace('Hello', 'Hallo'));
      },
    ],
    [
      'it is accepted as it is, and changes again',
      async ({ run, write }) => {
        write('campaign.yaml', manifest.replace('Hello', 'Hallo'));
        expect((await run(['accept', 'campaign.yaml', 'share@a'])).code).toBe(0);
        write('campaign.yaml', manifest.replace('Hello', 'Hullo'));
      },
    ],
    [
      'it is renamed, changes at the same time, and is moved by hand',
      async ({ run, write }) => {
        write('campaign.yaml', manifest.replace('share:', 'tell:').replace('Hello', 'Hallo'));
        for (const key of ['a', 'b']) {
          const moved = await run(['move', 'campaign.yaml', `share@${key}`, `tell@${key}`]);
          expect(moved, moved.err).toMatchObject({
            code: 0,
            err: expect.stringContaining('the published post is not changed'),
          });
        }
      },
    ],
    ['a branch adds its refusals', joinWithRefusals],
    ['everything is redone that has its tag', () => {}, ['--redo', 'tag:launch hero']],
    ['everything is redone that needs another', () => {}, ['--redo', 'hero+']],
  ])('when %s', async (_name, change, more = []) => {
    const trial = await posted();
    await change(trial);
    await trial.apply(['--publish', ...more], { ends: 0 });
    expect(captions(trial).sort()).toEqual(['Hello a', 'Hello b']);
    expect((await trial.apply(['--publish'])).code).toBe(0);
    expect(captions(trial)).toHaveLength(2);
  });

  test('is restored after a lost lock on the same machine; on another machine a new post needs consent', async () => {
    const trial = await posted(alone);
    rmSync(trial.path(lock));
    rmSync(trial.path('.mediabatch'), { recursive: true });
    const restored = await trial.apply(['--publish'], { ends: 0 });
    expect(restored.err).toContain("restored from this machine's purchase journal");
    expect(captions(trial)).toHaveLength(1);
    rmSync(trial.path(lock));
    await trial.apply([], { env: { ...trial.sandbox.env, XDG_STATE_HOME: trial.path('elsewhere') }, ends: 5 });
    expect(captions(trial)).toHaveLength(1);
  });

  test.each([
    ['share'],
    ['kind:post'],
    ['share@*'],
    ['tag:launch'],
    ['share@a+'],
    ['selector:all'],
    ['state:done,kind:post'],
  ])('--redo %s does not name one', async (selection) => {
    const trial = await posted(manifest.replace('tasks:', 'selectors: { all: share@a share@b }\ntasks:'));
    const again = await trial.apply(['--publish', '--redo', selection], { ends: 64 });
    expect(again.err).toMatch(/--redo: share@a(, share@b are| is) already posted, and only an exact address/);
    expect(again.err).toContain('give the exact address of each post: --redo share@a');
    expect(captions(trial)).toHaveLength(2);
  });

  test('unless --redo names it, each time with consent', async () => {
    const trial = await posted();
    trial.write('campaign.yaml', manifest.replace('Hello', 'Hallo'));
    const waits = await trial.apply(['--redo', 'share@a hero'], { ends: 5 });
    // The picture is made anew already: what is to be typed does not ask for another.
    expect(waits.err).toContain('mediabatch apply campaign.yaml --redo share@a --yes --publish\n');
    expect(captions(trial)).toHaveLength(2);
    await trial.apply(['--publish', '--redo', 'share@a'], { ends: 0 });
    expect(captions(trial).sort()).toEqual(['Hallo a', 'Hello a', 'Hello b']);
    expect((await trial.apply(['--publish'])).code).toBe(0);
    expect(captions(trial)).toHaveLength(3);
  });

  test('--redo accepts the name of a task of one step', async () => {
    const trial = await posted(alone);
    expect((await trial.apply(['--publish', '--redo', 'share'])).code).toBe(0);
    expect(captions(trial)).toEqual(['Hello', 'Hello']);
  });

  test('a saved plan with --redo sends it only once', async () => {
    const trial = await posted(alone);
    expect((await trial.run(['plan', 'campaign.yaml', '--redo', 'share', '--out', name])).code).toBe(0);
    for (let time = 0; time < 2; time += 1) {
      expect((await trial.run(['apply', name, '--publish'])).code).toBe(0);
      expect(captions(trial)).toHaveLength(2);
    }
    // Somebody has edited it: a selection is no address.
    const document = JSON.parse(readFileSync(trial.path(name), 'utf8'));
    document.saved.options.redo = ['kind:post'];
    document.saved.purchases.share.repeat = 3;
    trial.write('old.plan.json', JSON.stringify(document));
    await trial.run(['apply', 'old.plan.json', '--publish', '--yes']);
    expect(captions(trial)).toHaveLength(2);
  });
});

describe('a post whose answer was lost', () => {
  const lost = (booked: boolean) => withFaults([{ on: 'post', times: 1, do: { type: 'reset', booked } }]);

  test('waits for a user under every option', async () => {
    const trial = await makeTrial(alone, lost(true));
    const first = await trial.apply(['--publish'], { ends: 6 });
    expect(first.err).toContain(
      'with --job and the id of the post, or --not-spent: mediabatch resolve campaign.yaml share\n',
    );
    const tries: (() => Promise<{ code: number | null }>)[] = [
      () => trial.apply(['--publish']),
      () => trial.apply(['--publish', '--redo', 'share']),
      () => {
        trial.write('campaign.yaml', alone.replace('caption: Hello', 'caption: Hallo'));
        return trial.apply(['--publish']);
      },
      () => trial.apply(['--publish', '--redo', 'share']),
    ];
    for (const again of tries) {
      expect((await again()).code).toBe(6);
      expect(captions(trial)).toHaveLength(1);
    }
    const doubted = await trial.run(['resolve', 'campaign.yaml', 'share', '--spend-again']);
    expect(doubted).toMatchObject({ code: 64, err: expect.stringContaining('so it is not sent a second time') });
    const [{ id } = { id: '' }] = trial.sandbox.ledger();
    const found = await trial.run(['resolve', 'campaign.yaml', 'share', '--job', id]);
    expect(found, found.err).toMatchObject({ code: 0, err: expect.stringContaining('the post is published as') });
    expect((await trial.apply(['--publish'])).code).toBe(0);
    expect(captions(trial)).toHaveLength(1);
  });

  test('is published with consent if it was not published', async () => {
    const trial = await makeTrial(alone, lost(false));
    expect((await trial.apply(['--publish'])).code).toBe(6);
    const decided = await trial.run(['resolve', 'campaign.yaml', 'share', '--not-spent']);
    expect(decided, decided.err).toMatchObject({ code: 0, err: expect.stringContaining('(--publish)') });
    expect((await trial.apply()).code).toBe(5);
    expect(captions(trial)).toEqual([]);
    expect((await trial.apply(['--publish'])).code).toBe(0);
    expect((await trial.apply(['--publish'])).code).toBe(0);
    expect(captions(trial)).toEqual(['Hello']);
  });

  test('in a killed run is collected if its job is on record', async () => {
    const trial = await makeTrial(alone);
    await killAt(/share {2}created/, (options) => trial.apply(['--publish', '-v'], options));
    expect((await trial.apply()).code).toBe(0);
    expect(captions(trial)).toHaveLength(1);
  });
});

test('a refused post waits for consent, too', async () => {
  const error = { success: false, error: 'Insufficient credits' };
  const refusal = { on: 'post', times: 1, do: { type: 'status', status: 402, body: error } };
  const trial = await makeTrial(alone, withFaults([refusal]));
  expect((await trial.apply(['--publish'])).code).toBe(4);
  expect((await trial.apply()).code).toBe(5);
  expect((await trial.apply(['--publish'])).code).toBe(0);
  expect(captions(trial)).toEqual(['Hello']);
});

/** The same posts, under other keys. */
const keyed = manifest
  .replace('foreach: [a, b]', 'foreach: [{ is: a }, { is: b }]\n    key: "new-{{row.is}}"')
  .replace('{{row}}', '{{row.is}}');

/** As git does it: the lines of both sides stay. Theirs knows the posts as refused. */
function joinWithRefusals({ path, write }: Trial): void {
  const lines = readFileSync(path(lock), 'utf8').trimEnd().split('\n');
  const refusals = lines
    .filter((line) => line.includes('"kind":"post"'))
    .map((line) => {
      const { jobId: _jobId, outputs: _outputs, credits: _credits, ...record } = JSON.parse(line);
      return JSON.stringify({ ...record, state: 'refused', error: 'HTTP 402' });
    });
  expect(refusals).toHaveLength(2);
  write(lock, `${[...lines, ...refusals].join('\n')}\n`);
}
