import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CampaignError } from '../contract/failure.ts';

/** A viewer may stay in the foreground as long as it is looked at; what fails does so before this. */
const failsWithinMs = 1500;

/** Shows a file, by its absolute path, in the program that the system has for it. Resolves once that has been started. */
export async function openFile(path: string): Promise<void> {
  const { program, words } = openerOf(path, process.platform);
  const problem = await start(program, words);
  if (problem === undefined) return;
  throw new CampaignError({
    code: 'MB3305',
    message: `${program} cannot open ${path}: ${problem}`,
    hint: 'with --print the path is printed instead',
    path,
  });
}

/** Shows a page of this machine in the person's browser; false when no program does. */
export async function openPage(url: string): Promise<boolean> {
  // Whatever a system's opener makes of its word: this can be nothing but an address.
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}\/[0-9a-f]{32}\/$/.test(url)) throw new Error('internal error: no page of ours');
  const { program, words } = openerOf(url, process.platform);
  return (await start(program, words)) === undefined;
}

/**
 * Program and words that open a path or an address. No shell reads any of this: a path is one word, and begins with the
 * root of a file system; an address begins with its scheme.
 */
export function openerOf(path: string, platform: NodeJS.Platform): { program: string; words: string[] } {
  const isAddress = path.startsWith('http://');
  switch (platform) {
    case 'darwin':
      return { program: '/usr/bin/open', words: [path] };
    case 'win32': {
      // `start` is a word of the shell; this is what it calls. A URL has no characters to quote.
      const program = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return { program, words: ['url.dll,FileProtocolHandler', isAddress ? path : pathToFileURL(path).href] };
    }
    default:
      return { program: 'xdg-open', words: [path] };
  }
}

/** Why it did not start, or ended at once; undefined when it did neither. */
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
