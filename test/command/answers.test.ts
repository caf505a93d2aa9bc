import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listenForInterruption } from '../../src/cli/signals.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';

const two = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

describe('errors for users', () => {
  test('a missing manifest, or a folder in its place', async () => {
    const trial = await makeTrial(two);
    const missing = await trial.run(['apply', 'other.yaml']);
    expect(missing.code).toBe(65);
    expect(missing.err).toContain('there is no file other.yaml');
    expect(missing.err).toContain('mediabatch init');
    mkdirSync(trial.path('folder'));
    expect((await trial.run(['validate', 'folder'])).code).toBe(65);
  });

  test('an error in the manifest has a position; nothing is sent or written', async () => {
    const trial = await makeTrial(two.replace('prompt:', 'promt:'));
    const { code, err } = await trial.apply();
    expect(code).toBe(65);
    expect(err).toMatch(/campaign\.yaml:4:\d+/);
    expect(err).toContain('prompt');
    expect(trial.sandbox.ledger()).toHaveLength(0);
    expect(readdirSync(trial.folder)).toEqual(['campaign.yaml']);
  });

  test('no key: exit 77 before any request, while plan still works', async () => {
    const trial = await makeTrial(two);
    for (const env of [{ MEDIABATCH_API_KEY: '' }, { MEDIABATCH_API_KEY: '   ' }]) {
      const { code, err } = await trial.apply([], { env });
      expect(code).toBe(77);
      expect(err).toContain('MEDIABATCH_API_KEY');
      expect(err).toContain('--sandbox');
      expect((await trial.run(['plan', 'campaign.yaml'], { env })).code).toBe(0);
    }
  });

  test('a wrong key: exit 77, nothing bought', async () => {
    const trial = await makeTrial(two);
    const { code, err } = await trial.apply([], { env: { MEDIABATCH_API_KEY: 'other_live_wrongwrongwrong' } });
    expect(code, err).toBe(77);
    expect(err).not.toContain('wrongwrong');
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test('a service address in the manifest is refused; so is one that is neither https nor this machine', async () => {
    const trial = await makeTrial(two.replace('tasks:', 'service: { url: "https://evil.example/api/v1" }\ntasks:'));
    const inManifest = await trial.apply();
    expect(inManifest.code).toBe(65);
    expect(inManifest.err).toContain('MEDIABATCH_BASE_URL');
    trial.write('campaign.yaml', two);
    const plain = await trial.apply([], { env: { MEDIABATCH_BASE_URL: 'http://example.com/api/v1' } });
    expect(plain.code).toBe(64);
    expect(plain.err).toContain('https');
  });

  test('a .env next to an exported key never sets the address of that key', async () => {
    const trial = await makeTrial(two);
    trial.write('.env', 'MEDIABATCH_BASE_URL=http://127.0.0.1:1/api/v1\n');
    const { code, err } = await trial.apply([], { env: { MEDIABATCH_BASE_URL: '' } });
    expect(code).toBe(77);
    expect(err).toContain('MEDIABATCH_BASE_URL is not set');
  });

  test('a budget that is too low exits with 4 and is never exceeded', async () => {
    const trial = await makeTrial(
      two.replace('tasks:', 'budget: { credits: 3 }\ntasks:').replace('[a, b]', '[a, b, c, d]'),
    );
    const { code } = await trial.apply();
    expect(code).toBe(4);
    const spent = trial.sandbox.ledger().reduce((sum, { credits }) => sum + credits, 0);
    expect(spent).toBeLessThanOrEqual(3);
    expect(spent).toBeGreaterThan(0);
    const quiet = await trial.apply(['--quiet']);
    expect(quiet.code).toBe(4);
    expect(quiet.err).toMatch(/^blocked +the budget is not enough for 3 steps \(cost 6 credits\)\n$/);
  });

  test('a lost answer that another run recovers needs no person', async () => {
    const lost = { on: 'create', do: { type: 'reset', booked: true } };
    const empty = { on: 'create', nth: 2, do: { type: 'status', status: 402 } };
    const trial = await makeTrial(two.replace('[a, b]', '[a]'), withFaults([lost, empty]));
    const { code, out, err } = await trial.run(['apply', 'campaign.yaml', '--yes', '--json']);
    expect(code, err).toBe(6);
    expect(err).toContain('to find out, which never pays twice: mediabatch apply campaign.yaml');
    expect(JSON.parse(out)).toMatchObject({ again: 'same', person: false, paid: 'perhaps' });
    expect(JSON.parse(out).next).toContainEqual({
      command: expect.stringMatching(/^mediabatch apply /),
      credits: 0,
      needs: null,
    });
    expect(out).not.toContain('mediabatch explain');
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('a mistake in a file of faults has its position', async () => {
    const trial = await makeTrial(two);
    trial.write('faults.json', '[{ "x": 1 }]');
    const { code, err } = await trial.run(['sandbox', '--port', '0', '--faults', 'faults.json']);
    expect(code, err).toBe(65);
    expect(err).toContain('faults.json: fault 1: x is not known; a fault has on, kind, nth, times, match and do');
  });

  test('without a terminal and without --yes nothing of unknown price is bought', async () => {
    const trial = await makeTrial(two);
    const { code, err } = await trial.run(['apply', 'campaign.yaml']);
    expect(code).toBe(5);
    expect(err).toContain('--yes');
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test('escapes in service messages never reach a terminal', async () => {
    const trial = await makeTrial(
      two,
      withFaults([
        {
          on: 'create',
          nth: 1,
          do: {
            type: 'status',
            status: 400,
            body: { success: false, error: '\u001b[2Jboom\u202e', code: 'x', message: '\u001b[2Jboom\u202e' },
          },
        },
      ]),
    );
    const { code, err } = await trial.apply([], { env: { FORCE_COLOR: '0' } });
    expect(code).toBe(3);
    expect(err).toContain('\\x1b[2Jboom');
    const raw = [...err].filter((letter) => letter !== '\n' && (letter < ' ' || letter === '\u202e'));
    expect(raw).toEqual([]);
  });

  test('a link into a private network is refused; its job id is recorded and other steps continue', async () => {
    const trial = await makeTrial(
      two,
      withFaults([
        {
          on: 'status',
          nth: 1,
          do: {
            type: 'answer',
            body: {
              success: true,
              data: { id: '{id}', status: 'COMPLETED', outputUrl: 'http://169.254.169.254/latest' },
            },
          },
        },
      ]),
    );
    const { code, err } = await trial.apply(['--concurrency', '1']);
    expect(code, err).toBe(3);
    expect(err).toContain('169.254.169.254');
    expect(readdirSync(trial.path('output'))).toHaveLength(1);
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });

  test('a foreign file in the way is reported, and kept under another name', async () => {
    const trial = await makeTrial(two);
    mkdirSync(trial.path('output'));
    writeFileSync(trial.path('output/pic-a.png'), 'mine');
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expect(err).toContain('MB1604');
    const aside = readdirSync(trial.path('output')).filter((name) => name.includes('changed'));
    expect(aside.map((name) => readFileSync(trial.path(`output/${name}`), 'utf8'))).toEqual(['mine']);
  });

  test('a symbolic link in the way, as folder or as file: refused before anything is paid, the target untouched', async () => {
    const trial = await makeTrial(two);
    mkdirSync(trial.path('elsewhere'));
    writeFileSync(trial.path('elsewhere/precious'), 'mine');
    symlinkSync(trial.path('elsewhere'), trial.path('output'));
    const folder = await trial.apply();
    expect(folder.code).toBe(65);
    expect(folder.err).toContain('MB1605');
    rmSync(trial.path('output'));
    mkdirSync(trial.path('output'));
    symlinkSync(trial.path('elsewhere/precious'), trial.path('output/pic-a.png'));
    expect((await trial.apply()).code).toBe(65);
    expect(readFileSync(trial.path('elsewhere/precious'), 'utf8')).toBe('mine');
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test.runIf(existsSync('/dev/full'))('a full disk under --events is reported, and the run continues', async () => {
    const trial = await makeTrial(two);
    const { code, err } = await trial.run([
      'apply',
      'campaign.yaml',
      '--yes',
      '--poll-interval',
      '10',
      '--events',
      '/dev/full',
    ]);
    expect(code, err).toBe(0);
    expect(err).toContain('no more events');
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });

  test('--events never overwrites the campaign', async () => {
    const trial = await makeTrial(two);
    await trial.apply();
    const lock = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    for (const file of ['campaign.lock.jsonl', 'campaign.yaml']) {
      expect((await trial.run(['apply', 'campaign.yaml', '--yes', '--events', file])).code).toBe(64);
    }
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(lock);
    expect((await trial.run(['apply', 'campaign.yaml', '--events', 'nowhere/x.jsonl'])).code).toBe(73);
  });

  test('a failed first run at a wrong address does not bind the lock to it', async () => {
    const trial = await makeTrial(two.replace('[a, b]', '[a]'));
    const env = { MEDIABATCH_BASE_URL: 'https://user:pass@127.0.0.1/api/v1' };
    expect((await trial.apply([], { env })).code).toBe(64);
    trial.write('campaign.lock.jsonl', '{"mediabatch":"lock","version":2,"service":"0123456789abcdef"}\n');
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    const other = await trial.apply([], { env: { MEDIABATCH_BASE_URL: 'http://127.evil.example/api/v1' } });
    expect(other.err).not.toContain('internal error');
  });

  test('a key never leaves over plain http to a name that only looks like this machine', async () => {
    const trial = await makeTrial(two);
    for (const host of ['127.evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      const { code } = await trial.apply([], { env: { MEDIABATCH_BASE_URL: `http://${host}/api/v1` } });
      expect(code).toBe(64);
    }
  });

  test('two signals at once count as one: open requests are awaited', async () => {
    const names = ['SIGTERM', 'SIGHUP'] as const;
    const before = names.map((name) => new Set(process.listeners(name)));
    const { signal, secondSignal, stop } = listenForInterruption();
    let isLeft = false;
    void secondSignal.then(() => {
      isLeft = true;
    });
    for (const name of names) process.emit(name, name);
    stop();
    for (const [at, name] of names.entries()) {
      for (const one of process.listeners(name)) if (!before[at]?.has(one)) process.off(name, one);
    }
    await new Promise(setImmediate);
    expect([signal.aborted, signal.reason, isLeft]).toEqual([true, 'SIGTERM', false]);
  });

  test('wrong usage exits with 64 and prints the correct form', async () => {
    const trial = await makeTrial(two);
    for (const args of [
      ['aply'],
      ['apply', 'campaign.yaml', '--yess'],
      ['apply', 'campaign.yaml', '--concurrency', '0'],
      ['apply', 'campaign.yaml', '--redo', 'nothing', '--yes'],
    ]) {
      const { code, err } = await trial.run(args);
      expect(code, err).toBe(64);
      expect(err.length).toBeGreaterThan(10);
    }
  });

  test.each([[[]], [['--json']], [['--select', 'nothing']], [['--max-credits', '1']]])(
    'apply --dry-run is plan, to the byte: %j',
    async (args) => {
      const trial = await makeTrial(two);
      const planned = await trial.run(['plan', 'campaign.yaml', ...args]);
      const rehearsed = await trial.run(['apply', 'campaign.yaml', '--dry-run', ...args]);
      expect(rehearsed).toEqual(planned);
    },
  );

  test('plan, status and validate write nothing and need no service', async () => {
    const trial = await makeTrial(two);
    await trial.sandbox.close();
    const before = readdirSync(trial.folder);
    const env = { MEDIABATCH_API_KEY: '', MEDIABATCH_BASE_URL: '' };
    for (const args of [
      ['plan', 'campaign.yaml'],
      ['status', 'campaign.yaml'],
      ['validate', 'campaign.yaml'],
      ['plan', 'campaign.yaml', '--json'],
      ['apply', 'campaign.yaml', '--dry-run'],
    ]) {
      const { code, err } = await trial.run(args, { env });
      expect(code, err).toBe(0);
    }
    expect(readdirSync(trial.folder)).toEqual(before);
    expect((await trial.run(['plan', 'campaign.yaml', '--detailed-exitcode'], { env })).code).toBe(2);
  });
});
