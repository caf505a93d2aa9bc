import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Time in ms in which a program that cannot open the address fails. A viewer may stay in the foreground for longer. */
const failsWithinMs = 1500;

/** Opens a page of this machine in the user's browser. Returns false if no program does. */
export async function openPage(url: string): Promise<boolean> {
  // A system's opener may interpret its argument, so only an address of this exact form is passed.
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}\/[0-9a-f]{32}\/$/.test(url)) throw new Error('internal error: no page of ours');
  const { program, words } = openerOf(url, process.platform);
  return (await start(program, words)) === undefined;
}

/** Returns the program that opens an address, and its arguments. No shell is involved. */
export function openerOf(address: string, platform: NodeJS.Platform): { program: string; words: string[] } {
  switch (platform) {
    case 'darwin':
      return { program: '/usr/bin/open', words: [address] };
    case 'win32': {
      // `start` is a builtin of the shell; it calls this program.
      const program = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return { program, words: ['url.dll,FileProtocolHandler', address] };
    }
    default:
      return { program: 'xdg-open', words: [address] };
  }
}

/** Why the program did not start or failed at once; undefined if it did neither. */
function start(program: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => {
      child.unref();
      resolve(undefined);
    }, failsWithinMs);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(error.code === 'ENOENT' ? 'it is not installed' : error.message);
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? undefined : `it ended with ${code ?? 'a signal'}`);
    });
  });
}
