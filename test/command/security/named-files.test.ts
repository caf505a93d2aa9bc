import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, expectExit } from '../../rig/command.ts';
import { makeFolder, makePipe } from '../../rig/folder.ts';
import { type Ended, has, runProgram } from '../../rig/program.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';
import { guardElsewhere } from '../scripted.ts';

describe('named files', () => {
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

  describe('--events', () => {
    const redo = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--redo', 'hero'];

    test('is a new file or an events file, and a run that is refused does not change it', async () => {
      const trial = await makeCampaign();
      expect((await trial.apply()).code).toBe(0);
      const first = readFileSync(trial.path('events.jsonl'), 'utf8');
      const guard = trial.path('.mediabatch/campaign.lock.jsonl.guard');
      writeFileSync(guard, guardElsewhere);
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

    test('can be a descriptor that the shell opened, also if its reader reads nothing', async () => {
      const trial = await makeCampaign();
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...trial.sandbox.env };
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
      'as a pipe without a writer blocks no command: %s (POSIX)',
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
      const outside = makeFolder();
      const secret = join(outside, name === '.mediabatch' ? 'state' : `secret-${name}`);
      const there = existsSync(trial.path(name));
      if (there) renameSync(trial.path(name), secret);
      else if (name === '.mediabatch') mkdirSync(secret);
      else
        writeFileSync(secret, `MEDIABATCH_API_KEY=${'s'.repeat(20)}\nMEDIABATCH_BASE_URL=http://127.0.0.1:9/api/v1\n`);
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

    test('is not uploaded if only a link of the tree leads to it', async () => {
      const trial = await makeCampaign();
      const outside = makeFolder();
      writeFileSync(join(outside, 'secret'), 'secret');
      symlinkSync(join(outside, 'secret'), trial.path('harmless.png'));
      symlinkSync(outside, trial.path('assets'));
      for (const name of ['harmless.png', 'assets/secret']) {
        const { code, err } = await trial.run(['upload', 'logo.png', name]);
        expect([code, err.includes(`${name} cannot be uploaded: a symbolic link leads out`)], err).toEqual([65, true]);
      }
      expect((await trial.run(['upload', 'logo.png'])).code).toBe(0);
    });

    test('in a folder that a link moves out of the tree is written by no command', async () => {
      const trial = await makeCampaign();
      const outside = makeFolder();
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

  test.each(['ledger.jsonl', 'sandbox.pid', 'files'])(
    'a sandbox state that contains a link or a pipe is not continued: %s',
    async (name) => {
      const folder = makeFolder();
      writeFileSync(
        join(folder, 'campaign.yaml'),
        manifest.replace(/ {2}hero.*\n {2}logo.*/, '  pic: { kind: image, with: { prompt: x } }'),
      );
      const data = join(folder, '.mediabatch/sandbox');
      mkdirSync(data, { recursive: true });
      const precious = join(makeFolder(), 'precious');
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

describe('odd disk', () => {
  const manifest =
    'version: 1\nname: spring\ntasks:\n  pic: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n';

  function place(): string {
    const path = makeFolder();
    writeFileSync(join(path, 'campaign.yaml'), manifest);
    return path;
  }

  const apply = (folder: string) => [
    process.execPath,
    bin,
    'apply',
    join(folder, 'campaign.yaml'),
    '--sandbox',
    '--yes',
  ];

  test.runIf(has.strace).each(['EXDEV', 'EMLINK', 'EACCES', 'EPERM', 'ENOSYS'])(
    'where a link is refused with %s the guard takes the other way',
    async (code) => {
      const folder = place();
      const inject = ['-e', 'trace=link,linkat', '-e', `inject=link,linkat:error=${code}`];
      const ended = await runProgram(['strace', '-f', '-qq', '-o', '/dev/null', ...inject, ...apply(folder)]);
      expect([ended.code, ended.err]).toEqual([0, expect.not.stringContaining('internal error')]);
    },
  );

  test.runIf(has.strace)('a disk without support for any guard: a message, and exit code 73', async () => {
    const folder = place();
    const inject = ['-e', 'trace=link,linkat', '-e', 'inject=link,linkat:error=EIO'];
    const ended = await runProgram(['strace', '-f', '-qq', '-o', '/dev/null', ...inject, ...apply(folder)]);
    expect([ended.code, ended.err]).toEqual([73, expect.stringContaining('MB3301')]);
    expect(ended.err).not.toContain('internal error');
  });

  test.each([['--version'], ['--help'], ['plan', 'campaign.yaml', '--json'], ['status', 'campaign.yaml', '--json']])(
    'output that cannot be written ends with 73 and one line: %s',
    async (...words) => {
      const folder = place();
      const script = `cd ${folder} && exec "$@" > /dev/full`;
      const { code, err } = await runProgram(['bash', '-c', script, 'bash', process.execPath, bin, ...words]);
      expect([code, err]).toEqual([73, expect.stringMatching(/stdout cannot be written: ENOSPC/)]);
      expect(err).not.toMatch(/^ +at /m);
    },
  );

  test('a deleted working folder: a message, and a documented exit code', async () => {
    const folder = place();
    const gone = join(folder, 'gone');
    const run = (...words: string[]) => {
      mkdirSync(gone);
      const script = `cd ${gone} && rmdir ${gone} && exec "$@"`;
      return runProgram(['bash', '-c', script, 'bash', process.execPath, bin, ...words]);
    };
    for (const words of [
      ['plan', 'campaign.yaml'],
      apply(folder).slice(2),
      ['init'],
      ['doctor'],
      ['status', '--json'],
    ]) {
      const { code, err } = await run(...words);
      expect([code, err]).toEqual([65, expect.stringContaining('MB3416')]);
      expect(err).not.toContain('internal error');
    }
    for (const words of [['--help'], ['--version'], ['help', 'exit']]) expect((await run(...words)).code).toBe(0);
  });
});

describe('read-only commands', () => {
  const manifest = `version: 1
name: looked-at
budget: { credits: 20 }
tasks:
  pic: { kind: image, foreach: rows.csv, key: "{{row.k}}", with: { prompt: "a {{row.k}}", resolution: 1k } }
`;

  /** Commands that only look, in a campaign that is bought in part. */
  const looking = [
    'validate campaign.yaml',
    'plan campaign.yaml',
    'plan campaign.yaml --json',
    'plan campaign.yaml --sandbox',
    'apply campaign.yaml --dry-run',
    'status campaign.yaml --sandbox',
    'outputs campaign.yaml --sandbox',
    'explain campaign.yaml pic@a --sandbox',
    'explain campaign.yaml pic@b',
    'explain campaign.yaml pic@a --request',
    'explain campaign.yaml --origins',
    'pin campaign.yaml pic@a --sandbox --dry-run',
    'forget campaign.yaml pic@a --sandbox --dry-run',
  ];

  /** Commands that write, or would. */
  const writing = ['apply campaign.yaml --sandbox --yes', 'pin campaign.yaml pic@a --sandbox'];

  /** A campaign in which `pic@a` was bought with sandbox credits, and `pic@b` is new. */
  async function boughtFolder(): Promise<string> {
    const path = makeFolder();
    writeFileSync(join(path, 'campaign.yaml'), manifest);
    writeFileSync(join(path, 'rows.csv'), 'k\na\n');
    await expectExit(0, command(['apply', 'campaign.yaml', '--sandbox', '--yes'], { cwd: path }));
    writeFileSync(join(path, 'rows.csv'), 'k\na\nb\n');
    return path;
  }

  /** Everything below a folder, with the times at which it was changed. */
  function listing(folder: string): string[] {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const { size, mtimeMs, ctimeMs } = statSync(join(folder, name));
        return `${name} ${size} ${mtimeMs} ${ctimeMs}`;
      });
  }

  function run(words: string[], cwd: string): Promise<Ended> {
    return runProgram(words, { cwd, env: { PATH: process.env.PATH, HOME: '/nonexistent' } });
  }

  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, bin];

  function canBeNobody(): boolean {
    try {
      const [program = '', ...rest] = nobody;
      execFileSync(program, [...rest, '--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** `before`: what a command is started with. */
  async function expectOnlyLooking(folder: string, before: string[]): Promise<void> {
    const was = listing(folder);
    for (const words of looking) {
      const { code, said } = await run([...before, ...words.split(' ')], folder);
      expect(code, `${words}: ${said}`).toBe(0);
      expect(said).not.toMatch(/EROFS|EACCES|internal error/);
    }
    expect(listing(folder)).toEqual(was);
  }

  test.runIf(has.root && has.mounts)('work on a read-only file system (root)', async () => {
    const folder = await boughtFolder();
    const script = 'mount --bind "$PWD" "$PWD" && mount -o remount,bind,ro "$PWD" && cd "$PWD" && exec "$@"';
    const before = ['unshare', '--mount', 'sh', '-c', script, 'sh', process.execPath, bin];
    await expectOnlyLooking(folder, before);
    const { said } = await run([...before, 'plan', 'campaign.yaml'], folder);
    expect(said).toContain('the folder output is not writable, so pic@a cannot be saved: apply would end with');
    for (const words of writing) expect((await run([...before, ...words.split(' ')], folder)).code, words).toBe(73);
  });

  test.runIf(has.root ? canBeNobody() : true)(
    'work in somebody else’s folder, whose state nobody may read',
    async () => {
      const folder = await boughtFolder();
      chmodSync(join(folder, '.mediabatch'), 0o000);
      chmodSync(folder, 0o555);
      onTestFinished(() => {
        chmodSync(folder, 0o755);
        chmodSync(join(folder, '.mediabatch'), 0o755);
      });
      const before = has.root ? nobody : [process.execPath, bin];
      for (const words of looking) {
        const { code, said } = await run([...before, ...words.split(' ')], folder);
        expect(code, `${words}: ${said}`).toBe(0);
      }
      for (const words of writing) expect((await run([...before, ...words.split(' ')], folder)).code, words).toBe(73);
    },
  );
});
