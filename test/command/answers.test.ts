import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, type TestContext, test } from 'vitest';
import { listenForInterruption } from '../../src/cli/signals.ts';
import { expectExit } from '../rig/command.ts';
import { findLosses, remainsOf } from '../rig/killed-run.ts';
import { makePlace, type Place } from '../rig/place.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';

const two = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

describe('errors for users', () => {
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

  test('a service address in the manifest is refused; so is one that is neither https nor this machine, also where its name looks like this machine', async () => {
    const trial = await makeTrial(two.replace('tasks:', 'service: { url: "https://evil.example/api/v1" }\ntasks:'));
    const inManifest = await trial.apply();
    expect(inManifest.code).toBe(65);
    expect(inManifest.err).toContain('MEDIABATCH_BASE_URL');
    trial.write('campaign.yaml', two);
    for (const host of ['example.com', '127.evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      const plain = await trial.apply([], { env: { MEDIABATCH_BASE_URL: `http://${host}/api/v1` } });
      expect(plain).toMatchObject({ code: 64, err: expect.stringContaining('https') });
    }
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
    const again = await trial.apply();
    expect(again).toMatchObject({ code: 4, err: expect.stringContaining('with a higher budget') });
    const quiet = await trial.apply(['--quiet']);
    expect(quiet.code).toBe(4);
    expect(quiet.err).toMatch(/^blocked +the budget is not enough for 3 steps \(6 credits\)\n$/);
  });

  test('a lost answer that another run recovers needs no user', async () => {
    const lost = { on: 'create', do: { type: 'reset', booked: true } };
    const empty = { on: 'create', nth: 2, do: { type: 'status', status: 402 } };
    const trial = await makeTrial(two.replace('[a, b]', '[a]'), withFaults([lost, empty]));
    const { code, out, err } = await trial.run(['apply', 'campaign.yaml', '--yes', '--json']);
    expect(code, err).toBe(6);
    expect(err).toContain('to find out without paying twice: mediabatch apply campaign.yaml');
    expect(JSON.parse(out)).toMatchObject({ again: 'same', person: false, paid: 'perhaps' });
    expect(JSON.parse(out).next).toContainEqual({
      command: expect.stringMatching(/^mediabatch apply /),
      credits: 0,
      needs: null,
    });
    expect(out).not.toContain('mediabatch explain');
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('an error in a file of faults has its position', async () => {
    const trial = await makeTrial(two);
    trial.write('faults.json', '[{ "x": 1 }]');
    const { err } = await trial.run(['sandbox', '--port', '0', '--faults', 'faults.json'], { ends: 65 });
    expect(err).toContain('faults.json: fault 1: x is not a field of a fault; valid: on, kind, nth, times, match, do');
  });

  test('a symbolic link in an output path, as folder or as file: refused before anything is paid, the target unchanged', async () => {
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
    const { err } = await expectExit(
      0,
      trial.run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--events', '/dev/full']),
    );
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

  test.each([[[]], [['--json']], [['--select', 'nothing']], [['--max-credits', '1']]])(
    'apply --dry-run is plan, to the byte: %j',
    async (args) => {
      const trial = await makeTrial(two);
      const planned = await trial.run(['plan', 'campaign.yaml', ...args]);
      const rehearsed = await trial.run(['apply', 'campaign.yaml', '--dry-run', ...args]);
      expect(rehearsed).toEqual(planned);
    },
  );
});

/** One step per task; `known` is bought first, so its kind's list has shown what it gives back. */
const steps: Record<string, { known: string; asked: string }> = {
  voiceover: { known: 'text: first words, voice_id: Aria', asked: 'text: other words, voice_id: Aria' },
  video: { known: 'prompt: a first video, resolution: 720p', asked: 'prompt: another video, resolution: 720p' },
  thumbnail: {
    known: 'title: First, link: "https://youtu.be/a1"',
    asked: 'title: Second, link: "https://youtu.be/b2"',
  },
};

function manifest(kind: string, tasks: ('known' | 'asked')[]): string {
  const lines = tasks.map((task) => `  ${task}: { kind: ${kind}, with: { ${steps[kind]?.[task]} } }`);
  return `version: 1\nname: recovery\ntasks:\n${lines.join('\n')}\n`;
}

async function withKnown(kind: string, { onTestFinished }: TestContext): Promise<Place> {
  const place = await makePlace(manifest(kind, ['known']), { onTestFinished });
  await place.apply([], { ends: 0 });
  place.write(manifest(kind, ['known', 'asked']));
  return place;
}

function expectPaidOnce(place: Place, count: number): void {
  expect(findLosses(remainsOf(place))).toEqual([]);
  expect(place.service.ledger()).toHaveLength(count);
}

// Most of the time is waiting: for the service to list what it has made.
describe.concurrent('a lost answer, through the command', { timeout: 90_000 }, () => {
  test.for(['voiceover', 'video', 'thumbnail'])('%s: found in its list', async (kind, context) => {
    const place = await withKnown(kind, context);
    place.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { err } = await place.apply([], { ends: 0 });
    expect(err).toContain('is in the job list of the service');
    expectPaidOnce(place, 2);
  });

  test('an unreliable list leaves the create request to a user, with the possible job', async (context) => {
    const { onTestFinished } = context;
    const place = await makePlace(manifest('voiceover', ['asked']), { onTestFinished });
    place.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { err } = await place.apply([], { ends: 6 });
    const [job] = place.service.ledger();
    expect(err).toContain(`the job may be ${job?.id}`);
    expect(err).toContain('--not-spent or --spend-again: mediabatch resolve campaign.yaml asked\n');
    expect(place.service.ledger()).toHaveLength(1);
  });
});
