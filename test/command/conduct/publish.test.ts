import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { bin } from '../../rig/command.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

// Each test starts several processes, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000 });

const python = process.platform !== 'win32' && spawnSync('python3', ['--version']).status === 0;

const manifest = `version: 1
name: shop
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    foreach: [a, b]
    with:
      accountIds: [acc_a26a6b25c78b1c8d]
      caption: "Hello {{row}}"
      media: ["{{tasks.hero.url}}"]
      scheduledAt: "2030-05-01T09:00:00Z"
`;

/** Runs the command on a terminal of its own, and answers its questions one after the other. */
const script = `
import fcntl, os, pty, select, signal, struct, sys, termios
answers, command = sys.argv[1].split(','), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 200, 0, 0))
seen, asked = b'', 0
while True:
    ready, _, _ = select.select([fd], [], [], 25)
    if not ready: os.kill(pid, signal.SIGKILL); break
    try: piece = os.read(fd, 65536)
    except OSError: break
    if not piece: break
    seen += piece
    if seen.count(b'[y/N] ') > asked and asked < len(answers):
        os.write(fd, answers[asked].replace('^C', '\\x03').encode() + b'\\r')
        asked += 1
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
`;

function applyOnTerminal(trial: Trial, answers: string, ...args: string[]) {
  writeFileSync(trial.path('terminal.py'), script);
  const { CI: _ci, ...env } = process.env;
  const run = spawnSync(
    'python3',
    ['terminal.py', answers, process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10', ...args],
    {
      cwd: trial.folder,
      env: { ...env, ...trial.sandbox.env, TERM: 'xterm', COLUMNS: '200', NO_COLOR: '1' },
      encoding: 'utf8',
    },
  );
  const text = stripVTControlCharacters(run.stdout);
  const questions = [...text.matchAll(/[^\n\r]*\[y\/N\]/g)].map(([question]) => question);
  return { code: run.status, questions, text };
}

const kindsOf = (trial: Trial) => trial.sandbox.ledger().map(({ kind }) => kind);

/** Skipped where there is no python3 to make a terminal with. */
describe.runIf(python)('on a terminal (python3)', () => {
  const spend = 'Spend ≈ 2 credits? [y/N]';
  const publish =
    'Publish 2 posts to Instagram @sandbox.studio, all at 2030-05-01T09:00:00Z? This cannot be taken back. [y/N]';

  test('posts have a question of their own: how many, to which accounts, when', async () => {
    const trial = await makeTrial(manifest);
    const no = applyOnTerminal(trial, 'y,n');
    expect(no, no.text).toMatchObject({ code: 5, questions: [spend, publish] });
    expect(kindsOf(trial)).toEqual(['image']);
    expect(no.text).toContain('to publish them: mediabatch apply campaign.yaml --publish');
    const yes = applyOnTerminal(trial, 'y');
    expect(yes, yes.text).toMatchObject({ code: 0, questions: [publish] });
    expect(kindsOf(trial)).toEqual(['image', 'post', 'post']);
    const again = applyOnTerminal(trial, 'y');
    expect(again, again.text).toMatchObject({ code: 0, questions: [] });
  });

  test.each<[string, string, string[], { code: number; questions: string[] }, number]>([
    ['Ctrl-C at it does nothing at all', 'y,^C', [], { code: 130, questions: [spend, publish] }, 0],
    ['nobody is asked who said no to the credits', 'n', [], { code: 0, questions: [spend] }, 0],
    ['--yes is about credits, and they wait', '', ['--yes'], { code: 5, questions: [] }, 1],
    ['--publish is about them, and not about credits', 'y', ['--publish'], { code: 0, questions: [spend] }, 3],
    ['both ask nothing', '', ['--yes', '--publish'], { code: 0, questions: [] }, 3],
  ])('%s', async (_name, answers, args, expected, booked) => {
    const trial = await makeTrial(manifest);
    const ran = applyOnTerminal(trial, answers, ...args);
    expect(ran, ran.text).toMatchObject(expected);
    expect(kindsOf(trial)).toHaveLength(booked);
  });

  test('what costs nothing is not bought for 0 credits', async () => {
    const trial = await makeTrial('version: 1\nname: up\ntasks:\n  logo: { kind: upload, with: { file: a.txt } }\n');
    trial.write('a.txt', 'a');
    expect(applyOnTerminal(trial, 'n').questions).toEqual(['Carry out 1 step for 0 credits? [y/N]']);
  });
});
