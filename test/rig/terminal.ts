import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import { bin } from './command.ts';
import { startProgram } from './program.ts';

/** False where there is no python3 to make a terminal with. */
export const hasTerminals =
  process.platform !== 'win32' &&
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'python3')));

/** What a person does once each of `after` has been written since what was done before. */
export interface Deed {
  after: string | string[];
  keys?: string;
  /** Goes to the command's process. */
  signal?: NodeJS.Signals;
  size?: { rows: number; columns: number };
}

export interface OnTerminal {
  /** The exit code; that of a process which a signal ended is negative, 99: the terminal was left in another mode. */
  code: number | null;
  /** Everything that was written to the terminal. */
  text: string;
}

/** The size is set before the command begins. Ends by itself: what says nothing for 25 s is killed. */
const script = `
import fcntl, json, os, pty, select, signal, struct, sys, termios
given = json.loads(sys.argv[1])
rows, columns = given['rows'], given['columns']
def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
pid, fd = pty.fork()
if pid == 0:
    resize(0, rows, columns)
    os.execvp(sys.argv[2], sys.argv[2:])
before = after = termios.tcgetattr(fd)[3]
seen, done, start = b'', 0, 0
while True:
    ready, _, _ = select.select([fd], [], [], 25)
    if not ready: os.kill(pid, signal.SIGKILL); break
    try: piece = os.read(fd, 65536)
    except OSError: break
    if not piece: break
    seen += piece
    try: after = termios.tcgetattr(fd)[3]
    except termios.error: pass
    while done < len(given['deeds']):
        deed = given['deeds'][done]
        places = [(seen.find(text.encode(), start), len(text.encode())) for text in deed['after']]
        if any(place < 0 for place, _ in places): break
        start = max([place + length for place, length in places])
        done += 1
        if 'keys' in deed: os.write(fd, deed['keys'].encode())
        if 'signal' in deed: os.kill(pid, getattr(signal, deed['signal']))
        if 'size' in deed: resize(fd, deed['size']['rows'], deed['size']['columns'])
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(99 if before != after else os.waitstatus_to_exitcode(status) % 256)
`;

/** Runs a command on a terminal of its own. It is told nothing of a CI that these tests may run in. */
export async function runOnTerminal(
  command: readonly string[],
  options: {
    cwd: string;
    env?: { [name: string]: string | undefined };
    rows?: number;
    columns?: number;
    deeds?: Deed[];
  },
): Promise<OnTerminal> {
  const { cwd, env = {}, rows = 40, columns = 100, deeds = [] } = options;
  const given = { rows, columns, deeds: deeds.map((deed) => ({ ...deed, after: [deed.after].flat() })) };
  const { CI: _ci, MEDIABATCH_API_KEY: _key, ...own } = process.env;
  const run = spawn('python3', ['-c', script, JSON.stringify(given), ...command], {
    cwd,
    env: { ...own, TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve, reject) => run.on('error', reject).on('close', resolve));
  return { text: await text(run.stdout), code: await ended };
}

/** Runs the built command on a wide terminal, and types the answers at its yes-or-no prompts. Returns the text without controls. */
export async function answerOnTerminal(
  args: readonly string[],
  { answers, ...options }: { cwd: string; env: { [name: string]: string | undefined }; answers: readonly string[] },
): Promise<{ code: number | null; text: string }> {
  const { code, text } = await runOnTerminal([process.execPath, bin, ...args], {
    ...options,
    columns: 200,
    deeds: answers.map((answer) => ({ after: '[y/N]', keys: answer })),
  });
  return { code, text: stripVTControlCharacters(text).replaceAll('\r', '') };
}

export interface Terminal {
  /** Everything that was said there. */
  said(): string;
  /** Ctrl-C, or another signal. Resolves when what was typed has ended. */
  interrupt(name?: NodeJS.Signals): Promise<void>;
  /** Its exit code. */
  ended: Promise<number | null>;
}

/** A terminal in a folder, into which lines are typed; it goes with the test. `mediabatch` is the one that was built. */
export function typeInto(folder: string, lines: string, given: NodeJS.Dict<string>): Terminal {
  const script = `set -e\nmediabatch() { '${process.execPath}' '${bin}' "$@"; }\n${lines}\n`;
  const env = { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', ...given };
  const { child, said, ended: closed } = startProgram(['bash', '-c', script], { cwd: folder, env, detached: true });
  const ended = closed.then(({ code }) => code);
  const interrupt = async (name: NodeJS.Signals = 'SIGINT') => {
    signal(child, name);
    await ended;
  };
  onTestFinished(async () => {
    signal(child, 'SIGKILL');
    await ended;
  });
  return { said, interrupt, ended };
}

function signal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(-pid, name);
}
