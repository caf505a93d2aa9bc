import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, temporaryFolder } from '../../rig/command.ts';
import { runProgram } from '../../rig/run-program.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

const manifest = `version: 1
name: spring
budget: { credits: 100 }
tasks:
  hero: { kind: image, foreach: rows.csv, schema: rows.schema.json, key: "{{row.sku}}", with: { prompt: "{{row.sku}}", resolution: 1k } }
  logo: { kind: upload, with: { file: logo.png } }
`;

async function makeCampaign(): Promise<Trial> {
  const trial = await makeTrial(manifest);
  trial.write('rows.csv', 'sku\nlamp\n');
  trial.write('rows.schema.json', '{"type":"object"}');
  trial.write('logo.png', 'not much of a picture\0');
  mkdirSync(trial.path('.git'));
  return trial;
}

function folderFor(): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

const makePipe = (path: string) => execFileSync('mkfifo', [path]);

describe('--events', () => {
  const redo = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--redo', 'hero'];

  test('is a new file, or one of events, and a run that is turned away leaves it alone', async () => {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    const first = readFileSync(trial.path('events.jsonl'), 'utf8');
    const note = { mediabatch: 'guard', version: 1, id: 'f00df00df00df00d', host: 'elsewhere', pid: 1, since: 'now' };
    const guard = trial.path('.mediabatch/campaign.lock.jsonl.guard');
    writeFileSync(guard, JSON.stringify(note));
    expect((await trial.apply(['--lock-timeout', '0'])).code).toBe(75);
    expect(readFileSync(trial.path('events.jsonl'), 'utf8')).toBe(first);
    rmSync(guard);
    // A wrong manifest comes to nothing either.
    trial.write('rows.csv', 'sku\nlamp\nlamp\n');
    expect((await trial.apply()).code).toBe(65);
    expect(readFileSync(trial.path('events.jsonl'), 'utf8')).toBe(first);
    trial.write('rows.csv', 'sku\nlamp\n');
    expect((await trial.run([...redo, '--events', 'events.jsonl'])).code).toBe(0);
    expect(trial.events()[0]?.event).toBe('run-started');
    expect(readFileSync(trial.path('events.jsonl'), 'utf8')).not.toContain(first.slice(0, 60));
  });

  test('is nothing that holds something else, and nothing that a link leads to', async () => {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    const outside = folderFor();
    symlinkSync('campaign.lock.jsonl', trial.path('link.jsonl'));
    symlinkSync(join(outside, 'new.jsonl'), trial.path('dangling.jsonl'));
    symlinkSync(outside, trial.path('logs'));
    symlinkSync('.git', trial.path('tool'));
    trial.write('notes.jsonl', '{"event":"mine"}\n');
    trial.write('note.txt', 'mine');
    const names = ['link.jsonl', 'dangling.jsonl', 'logs/e.jsonl', 'tool/e.jsonl', 'notes.jsonl', 'note.txt', '.'];
    const kept = ['campaign.lock.jsonl', 'notes.jsonl', 'note.txt'].map(
      (name) => [name, readFileSync(trial.path(name))] as const,
    );
    for (const name of names) {
      const { code, err } = await trial.run([...redo, '--events', name]);
      expect([code, err.includes(`--events ${name} is not written`)], err).toEqual([73, true]);
    }
    for (const [name, bytes] of kept) expect(readFileSync(trial.path(name)), name).toEqual(bytes);
    expect([readdirSync(outside), readdirSync(trial.path('.git'))]).toEqual([[], []]);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('is never a file of the campaign, under any name, even if empty', async () => {
    const trial = await makeTrial(
      manifest.replaceAll('rows.csv', 'rows.jsonl').replace(', schema: rows.schema.json', ''),
    );
    trial.write('rows.jsonl', '{"at":"2030-01-01","event":"run-started","sku":"lamp"}\n');
    trial.write('logo.png', 'x\0');
    trial.write('kept.jsonl', '');
    for (const [name, ...args] of [['rows.jsonl'], ['./rows.jsonl'], ['kept.jsonl', '--lock', 'kept.jsonl']]) {
      const { code, err } = await trial.run(['apply', 'campaign.yaml', '--yes', ...args, '--events', name ?? '']);
      expect(code, err).toBe(64);
    }
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test.runIf(process.platform !== 'win32')(
    'is a pipe where somebody reads it; where nobody does, nothing is waited for (POSIX)',
    async () => {
      const trial = await makeCampaign();
      makePipe(trial.path('pipe'));
      const unread = await trial.run([...redo, '--events', 'pipe']);
      expect([unread.code, unread.err.includes('nobody reads that pipe')], unread.err).toEqual([73, true]);
      const reader = spawn('cat', [trial.path('pipe')], { stdio: ['ignore', 'pipe', 'ignore'] });
      let text = '';
      reader.stdout.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      const ended = new Promise((resolve) => reader.on('close', resolve));
      const read = await trial.run([...redo, '--events', 'pipe']);
      await ended;
      expect(read.code, read.err).toBe(0);
      expect(text.split('\n').map((line) => line && (JSON.parse(line) as { event: string }).event)).toContain(
        'run-ended',
      );
    },
  );

  test('is what is open already, as a shell hands it over, also when its reader takes nothing', async () => {
    const trial = await makeCampaign();
    const env = { HOME: process.env.HOME ?? '', ...trial.sandbox.env };
    const shell = async (line: string) => (await runProgram(['bash', '-c', line], { cwd: trial.folder, env })).said;
    const run = `"${process.execPath}" "${bin}" ${redo.join(' ')} --events`;
    expect(await shell(`${run} /dev/fd/3 3>>kept; head -n 1 kept`)).toContain('run-started');
    expect(await shell(`${run} /dev/stdout | head -n 1`)).toContain('run-started');
    expect(await shell(`${run} /dev/stderr 2>&1 >/dev/null | grep -c '"event":"run-ended"'`)).toBe('1\n');
    expect(await shell(`${run} >(sleep 30 & echo $! > reader) >/dev/null 2>&1; echo $?; kill $(cat reader)`)).toBe(
      '0\n',
    );
  });
});

describe('every file that a campaign names', () => {
  const names = ['.env', 'campaign.yaml', 'campaign.lock.jsonl', 'rows.csv', 'rows.schema.json', 'logo.png'];
  const commands = [
    ...['validate', 'plan', 'status'].map((name) => [name, 'campaign.yaml']),
    ...['apply', 'gc'].map((name) => [name, 'campaign.yaml', '--yes']),
    ...[['doctor'], ['init']],
  ];

  test.runIf(process.platform !== 'win32').each(names)(
    'as a pipe that nobody writes to is waited for by no command: %s (POSIX)',
    async (name) => {
      const trial = await makeCampaign();
      rmSync(trial.path(name), { force: true });
      makePipe(trial.path(name));
      for (const args of commands) {
        // Without an address of the service `.env` counts.
        const { signal, err } = await command(args, {
          cwd: trial.folder,
          env: name === '.env' ? {} : trial.sandbox.env,
        });
        expect([signal, err.includes('internal error')], `${args.join(' ')}: ${err}`).toEqual([null, false]);
      }
      expect(lstatSync(trial.path(name)).isFIFO()).toBe(true);
      expect(trial.sandbox.ledger()).toHaveLength(0);
    },
  );

  test.each([...names, '.mediabatch'])('as a link out of the tree is neither read nor written: %s', async (name) => {
    const trial = await makeCampaign();
    const outside = folderFor();
    const secret = join(outside, name === '.mediabatch' ? 'state' : `secret-${name}`);
    const there = existsSync(trial.path(name));
    if (there) renameSync(trial.path(name), secret);
    else if (name === '.mediabatch') mkdirSync(secret);
    else writeFileSync(secret, `MEDIABATCH_API_KEY=${'s'.repeat(20)}\nMEDIABATCH_BASE_URL=http://127.0.0.1:9/api/v1\n`);
    symlinkSync(secret, trial.path(name));
    const before = name === '.mediabatch' ? [] : readFileSync(secret);
    for (const args of commands) {
      const { err, out, code } = await command(args, {
        cwd: trial.folder,
        env: name === '.env' ? {} : trial.sandbox.env,
      });
      expect(
        err.includes('internal error') || /s{20}|127\.0\.0\.1:9/.test(out + err),
        `${args.join(' ')}: ${err}`,
      ).toBe(false);
      if (args[0] === 'apply') expect([65, 73, 77], err).toContain(code);
    }
    expect(name === '.mediabatch' ? readdirSync(secret) : readFileSync(secret)).toEqual(before);
    expect(readdirSync(outside)).toHaveLength(1);
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test('is not made public because a link of the tree leads to it', async () => {
    const trial = await makeCampaign();
    const outside = folderFor();
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(join(outside, 'secret'), trial.path('harmless.png'));
    symlinkSync(outside, trial.path('assets'));
    for (const name of ['harmless.png', 'assets/secret']) {
      const { code, err } = await trial.run(['upload', 'logo.png', name]);
      expect([code, err.includes(`${name} cannot be uploaded: a symbolic link leads out`)], err).toEqual([65, true]);
    }
    expect((await trial.run(['upload', 'logo.png'])).code).toBe(0);
  });

  test('in a folder that a link of the tree puts elsewhere is written by no command', async () => {
    const trial = await makeCampaign();
    const outside = folderFor();
    for (const file of ['campaign.yaml', 'rows.csv', 'rows.schema.json', 'logo.png']) {
      writeFileSync(join(outside, file), readFileSync(trial.path(file)));
    }
    const before = readdirSync(outside);
    symlinkSync(outside, trial.path('linked'));
    const attempts = [
      ['apply', 'linked/campaign.yaml', '--yes'],
      ['plan', 'campaign.yaml', '--out', 'linked/x.plan.json'],
      ['apply', 'campaign.yaml', '--yes', '--lock', 'linked/other.lock.jsonl'],
      ['init', 'linked/new'],
      ['gc', 'linked/campaign.yaml', '--yes'],
    ];
    for (const args of attempts) {
      const { code, err } = await trial.run(args);
      expect([65, 73], `${args.join(' ')}: ${err}`).toContain(code);
      expect(err).toMatch(/symbolic link/);
    }
    expect(readdirSync(outside)).toEqual(before);
    expect(trial.sandbox.ledger()).toHaveLength(0);
    // A control: without the link all of them work.
    rmSync(trial.path('linked'));
    renameSync(outside, trial.path('linked'));
    mkdirSync(outside);
    for (const args of attempts) {
      const { code, err } = await trial.run(args);
      expect(code, `${args.join(' ')}: ${err}`).toBe(0);
    }
  });
});

describe('the state of the sandbox', () => {
  test.each(['ledger.jsonl', 'sandbox.pid', 'files'])(
    'is not gone on with when a link or a pipe is in it: %s',
    async (name) => {
      const folder = folderFor();
      writeFileSync(
        join(folder, 'campaign.yaml'),
        manifest.replace(/ {2}hero.*\n {2}logo.*/, '  pic: { kind: image, with: { prompt: x } }'),
      );
      const data = join(folder, '.mediabatch/sandbox');
      mkdirSync(data, { recursive: true });
      const precious = join(folderFor(), 'precious');
      mkdirSync(precious);
      const go = () => command(['apply', 'campaign.yaml', '--sandbox', '--yes'], { cwd: folder });
      for (const make of [
        (path: string) => symlinkSync(precious, path),
        ...(process.platform !== 'win32' ? [makePipe] : []),
      ]) {
        make(join(data, name));
        const { code, err } = await go();
        expect([code, err.includes('the embedded sandbox cannot start')], err).toEqual([73, true]);
        rmSync(join(data, name));
      }
      expect(readdirSync(precious)).toEqual([]);
      expect((await go()).code).toBe(0);
    },
  );
});
