import { spawn } from 'node:child_process';
import { programIn } from '../campaign/consent.ts';
import { rowsOfScreen, type Terminal } from './terminal.ts';

/**
 * Lets a text that is longer than the screen be read in the pager of whoever sits there, as git does: `PAGER`, else
 * `less`. An empty one, or `cat`, is none.
 */
export async function throughPager(
  terminal: Terminal,
  write: (to: Terminal) => number | Promise<number>,
): Promise<number> {
  const rows = rowsOfScreen();
  const pager = pagerIn(process.env);
  if (rows === undefined || pager === undefined) return write(terminal);
  let text = '';
  const out = (piece: string) => {
    text += piece;
  };
  const code = await write({ ...terminal, out });
  const isLong = text.split('\n').length > rows;
  if (!isLong || !(await showIn(pager, text))) terminal.out(text);
  return code;
}

function pagerIn(env: NodeJS.ProcessEnv): string | undefined {
  if (programIn(env) !== undefined || env.TERM === 'dumb') return undefined;
  const pager = (env.PAGER ?? (process.platform === 'win32' ? '' : 'less')).trim();
  return pager === '' || pager === 'cat' ? undefined : pager;
}

/** False where there is no such program: nothing was shown. */
function showIn(pager: string, text: string): Promise<boolean> {
  // Colours, no more than what is needed, and the screen as it was; who has set LESS has decided.
  const env = { LESS: 'FRX', ...process.env };
  // A command line of one's own is for a shell, which says when there is no such program; ours is tried.
  const shell = process.env.PAGER !== undefined;
  const child = spawn(pager, { shell, env, stdio: ['pipe', 'inherit', 'inherit'] });
  // Ctrl-C is the pager's.
  const leaveIt = () => {};
  process.on('SIGINT', leaveIt);
  child.stdin.on('error', () => {
    // It was ended before it had read all.
  });
  child.stdin.end(text);
  return new Promise((resolve) => {
    const end = (isShown: boolean) => {
      process.off('SIGINT', leaveIt);
      resolve(isShown);
    };
    child.on('error', () => end(false));
    child.on('close', (code) => end(code !== 127));
  });
}
