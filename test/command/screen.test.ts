import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin } from '../rig/command.ts';
import { makeTrial } from '../rig/trial.ts';

const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

const python = spawnSync('python3', ['--version']).status === 0;

/** Runs the command on a terminal of its own and presses `keys` when it asks; gives what the screen was sent. */
const script = `
import fcntl, os, pty, select, signal, struct, sys, termios
keys, command = sys.argv[1].encode().decode('unicode_escape').encode('latin1'), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    import time
    time.sleep(0.2) # the size of the terminal is set by the other side
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
seen, pressed = b'', False
while True:
    ready, _, _ = select.select([fd], [], [], 30)
    if not ready: os.kill(pid, signal.SIGKILL); break
    try: piece = os.read(fd, 65536)
    except OSError: break
    if not piece: break
    seen += piece
    if not pressed and b'[y/N]' in seen:
        pressed = True
        os.write(fd, keys)
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
`;

describe.runIf(python)('on a terminal', () => {
  async function answer(keys: string) {
    const trial = await makeTrial(manifest);
    writeFileSync(join(trial.folder, 'terminal.py'), script);
    const command = [process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10'];
    const { CI: _ci, ...env } = process.env;
    const run = spawnSync('python3', ['terminal.py', keys, ...command], {
      cwd: trial.folder,
      env: { ...env, ...trial.sandbox.env, TERM: 'xterm', COLUMNS: '100' },
      encoding: 'utf8',
    });
    return { code: run.status, screen: run.stdout, bought: trial.sandbox.ledger().length };
  }

  test('it asks, and buys after yes; the cursor is back at the end', async () => {
    const { code, screen, bought } = await answer('y\\n');
    expect(code, screen).toBe(0);
    expect(bought).toBe(2);
    expect(screen).toContain('2 of 2');
    expect(screen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?25l'));
  });

  test('no is no, and no error', async () => {
    const { code, screen, bought } = await answer('n\\n');
    expect(code, screen).toBe(0);
    expect(bought).toBe(0);
    expect(screen).toContain('nothing was spent');
  });

  test('Ctrl-C at the question buys nothing and exits 130', async () => {
    const { code, screen, bought } = await answer('\\x03');
    expect(code, screen).toBe(130);
    expect(bought).toBe(0);
  });
});
