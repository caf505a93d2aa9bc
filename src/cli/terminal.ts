import type { Paste } from '../report/advice-text.ts';
import { inertText } from '../report/github-commands.ts';
import { makeStyle, type Style, wantsColor, wantsScreen } from '../report/style.ts';
import type { Called } from './paste.ts';

/** Where a command's words go: data to `out`, everything for people to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** For `err`. */
  style: Style;
  /** For `out`, which may be a file while `err` is a terminal. */
  outStyle: Style;
  /** Columns to fill. */
  width: number;
  outWidth: number;
  /** The screen can be redrawn. */
  screen: boolean;
  /** A person can be asked. */
  interactive: boolean;
  /** Writes commands to the runner of GitHub Actions; absent elsewhere. `err` writes none there, whatever it is told. */
  github?: (text: string) => void;
  /** How this command was called; known once the command line has been read. */
  called: Called;
  /** Writes commands that go on from it. */
  paste: Paste;
}

const defaultWidth = 100;

/** Values of a terminal before a command line has been read. */
export const notCalled: Pick<Terminal, 'called' | 'paste'> = {
  called: { file: undefined, options: {} },
  paste(command) {
    throw new Error(`internal error: ${command.call} is advised before a command has been called`);
  },
};

const showCursor = '\u001b[?25h';

/** While a screen is drawn the cursor is hidden: however this process ends, it comes back. Call the result at the end. */
export function giveCursorBackAtExit(): () => void {
  const giveBack = () => {
    process.stderr.write(showCursor);
  };
  process.on('exit', giveBack);
  return () => {
    process.off('exit', giveBack);
  };
}

/**
 * The process's own streams. A reader that has gone away (`| head`) makes them quiet; the work goes on, because what it
 * does is paid for.
 */
export function processTerminal(): Terminal {
  const writer = (stream: NodeJS.WriteStream) => {
    let open = true;
    stream.on('error', () => {
      open = false;
    });
    return (text: string) => {
      if (open) stream.write(text);
    };
  };
  const { stdout, stderr, stdin, env } = process;
  const screen = wantsScreen(env, stderr.isTTY === true);
  const err = writer(stderr);
  const isGithub = env.GITHUB_ACTIONS === 'true';
  return {
    out: writer(stdout),
    err: isGithub ? (text) => err(inertText(text)) : err,
    ...(isGithub && { github: err }),
    style: makeStyle(wantsColor(env, stderr.isTTY === true)),
    outStyle: makeStyle(wantsColor(env, stdout.isTTY === true)),
    // A terminal that does not know its size says 0.
    get width() {
      return stderr.columns || defaultWidth;
    },
    get outWidth() {
      return stdout.columns || defaultWidth;
    },
    screen,
    interactive: stderr.isTTY === true && stdin.isTTY === true && screen,
    ...notCalled,
  };
}

/** Aborted when nobody reads this process's data any more: a command that goes on until it is ended has no reason to. */
export function listenForReader(): AbortSignal {
  const controller = new AbortController();
  process.stdout.once('error', () => controller.abort());
  return controller.signal;
}

/** Resolves when what was said has left this process, or when nobody reads it any more. */
export async function allSaid(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}
