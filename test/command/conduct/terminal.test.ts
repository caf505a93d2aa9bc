import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { paidTwice } from '../../rig/oracle.ts';
import { makeTrial } from '../../rig/trial.ts';

const python = process.platform !== 'win32' && spawnSync('python3', ['--version']).status === 0;

const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

/** Runs the command on a terminal of its own; once the screen hides the cursor and a job runs, sends what is asked. */
const script = `
import fcntl, os, pty, select, signal, struct, sys, termios
what, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
before = termios.tcgetattr(fd)
seen, sent = b'', False
while True:
    ready, _, _ = select.select([fd], [], [], 25)
    if not ready: os.kill(pid, signal.SIGKILL); break
    try: piece = os.read(fd, 65536)
    except OSError: break
    if not piece: break
    seen += piece
    if not sent and b'[?25l' in seen and b' running' in seen:
        sent = True
        if what == 'keys': os.write(fd, b'\\x03')
        else: os.kill(pid, getattr(signal, what))
    try: after = termios.tcgetattr(fd)
    except termios.error: pass
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
if before[3] != after[3]: sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
`;

/** Skipped where there is no python3 to make a terminal with. */
describe.runIf(python)('a terminal is given back as it was (python3)', () => {
  test.each([
    ['Ctrl-C', 'keys', 130],
    ['SIGTERM', 'SIGTERM', 130],
    ['SIGHUP', 'SIGHUP', 130],
    ['a crash of our own', 'SIGUSR2', 1],
  ])('after %s', async (_name, what, expected) => {
    const trial = await makeTrial(manifest, { service: ['--speed', '0.5'] });
    writeFileSync(trial.path('terminal.py'), script);
    writeFileSync(trial.path('crash.mjs'), `process.on('SIGUSR2', () => { throw new Error('boom'); });\n`);
    const { CI: _ci, ...env } = process.env;
    const command = [process.execPath, '--import', trial.path('crash.mjs'), bin, 'apply', 'campaign.yaml', '--yes'];
    const run = spawnSync('python3', ['terminal.py', what, ...command, '--poll-interval', '10'], {
      cwd: trial.folder,
      env: { ...env, ...trial.sandbox.env, TERM: 'xterm', COLUMNS: '100' },
      encoding: 'utf8',
    });
    expect(run.status, run.stdout).toBe(expected);
    expect(run.stdout).toContain('[?25l');
    expect(run.stdout.lastIndexOf('[?25h')).toBeGreaterThan(run.stdout.lastIndexOf('[?25l'));
    expect(paidTwice(trial.sandbox.ledger())).toEqual([]);
  });
});
