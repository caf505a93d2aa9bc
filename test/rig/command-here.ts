import { readFileSync } from 'node:fs';
import { inertText } from '../../src/report/safe-text.ts';
import { makeStyle, wantsColor, wantsScreen } from '../../src/report/style.ts';
import { bufferTerminal } from '../command/buffer-terminal.ts';
import type { CommandResult } from './command.ts';

type Main = typeof import('../../src/cli/main.ts');

/** The built one, which is loaded in a few pieces: what the command itself begins with. */
async function loadMain(): Promise<Main> {
  if (testEnvironment().MEDIABATCH_TEST_SHORT_WAITS === '1') await import(/* @vite-ignore */ shortWaits);
  const bin = new URL('../../dist/cli/bin.js', import.meta.url);
  // The bundler gives its exports by name, or all in one.
  const begin = /import\("([^"]*main[^"]*)"\)(?:\.then\(\(n\) => n\.(\w+)\))?/;
  const [, chunk, all] = begin.exec(readFileSync(bin, 'utf8')) ?? [];
  if (chunk === undefined) throw new Error(`${bin.pathname} does not import its main file as it did`);
  const loaded = await import(/* @vite-ignore */ new URL(chunk, bin).href);
  return all === undefined ? loaded : loaded[all];
}

/** Loaded before a command: the waits for a lost create to turn up are short. */
export const shortWaits = new URL('short-waits.mjs', import.meta.url).href;

let loading: Promise<Main> | undefined;

/** While a command runs in this process it has the environment to itself: that of the test. */
let environmentBefore: NodeJS.ProcessEnv | undefined;

/** Whether a command runs in this process. */
export function isBusyHere(): boolean {
  return environmentBefore !== undefined;
}

/** The environment of the test, also while a command runs. */
export function testEnvironment(): NodeJS.ProcessEnv {
  return environmentBefore ?? process.env;
}

/** Runs a command line in this process, with nothing but `env` as its environment; nobody sits at it. */
export async function commandHere(
  args: string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<CommandResult> {
  loading ??= loadMain();
  const leave = enter(cwd, env);
  try {
    const { main } = await loading;
    const { terminal, said } = pipes();
    const code = await main(args, terminal);
    return { code, signal: null, ...said };
  } finally {
    leave();
  }
}

/** What a command sees whose words go to pipes. */
function pipes(): ReturnType<typeof bufferTerminal> {
  const { terminal, said } = bufferTerminal();
  const { env } = process;
  const { err } = terminal;
  const style = makeStyle(wantsColor(env, false));
  Object.assign(terminal, { style, outStyle: style, screen: wantsScreen(env, false) });
  if (env.GITHUB_ACTIONS === 'true')
    Object.assign(terminal, { github: err, err: (text: string) => err(inertText(text)) });
  return { terminal, said };
}

const ends = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'] as const;

/** Returns what removes the listeners that a command adds from now on: in a process of its own they end with it. */
export function keepListeners(): () => void {
  const listening = ends.map((name) => [name, process.listeners(name as NodeJS.Signals)] as const);
  return () => {
    for (const [name, before] of listening) {
      for (const listener of process.listeners(name as NodeJS.Signals)) {
        if (!before.includes(listener)) process.off(name, listener);
      }
    }
  };
}

/** Gives what puts everything back, listeners too. */
function enter(cwd: string, env: Record<string, string>): () => void {
  const before = { ...process.env };
  environmentBefore = before;
  const cwdBefore = process.cwd();
  const removeListeners = keepListeners();
  setEnvironment(env);
  process.chdir(cwd);
  return () => {
    setEnvironment(before);
    environmentBefore = undefined;
    process.chdir(cwdBefore);
    removeListeners();
  };
}

/** Not another object: what Node itself asks for, as the folder for temporary files, is in this one. */
export function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}
