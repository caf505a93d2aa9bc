import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { WebSocket } from 'undici';
import { temporaryFolder } from './command.ts';

const program = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
/** `FIREFOX` says where the program is. */
export const hasFirefox = existsSync(program);

export interface FirefoxPage {
  open(url: string): Promise<void>;
  /** Presses a key: a character, or one of the code points that WebDriver has for others. */
  press(...keys: string[]): Promise<void>;
  /** The value of an expression in the page: a text, a number, or nothing. */
  read(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Answer {
  id: number;
  type: 'success' | 'error';
  result?: unknown;
  message?: string;
}

/** A Firefox as Debian has it, driven by WebDriver BiDi: other drivers need a Firefox of their own. */
export async function openFirefox(): Promise<FirefoxPage> {
  const profile = temporaryFolder();
  const child = spawn(
    program,
    ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile.path],
    {
      env: { ...process.env, HOME: profile.path },
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (data) => {
      said += String(data);
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`Firefox has ended: ${said}`)));
  });
  const send = await connect(`${address}/session`);
  await send('session.new', { capabilities: {} });
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: [{ context: string }] };
  const [{ context }] = contexts;
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } });
  return {
    open: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async press(...keys) {
      for (const value of keys) {
        const actions = ['keyDown', 'keyUp'].map((type) => ({ type, value }));
        await send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
      }
    },
    async read(expression) {
      const answer = await send('script.evaluate', { expression, target: { context }, awaitPromise: true });
      return (answer as { result?: { value?: unknown } }).result?.value;
    },
    async close() {
      child.kill();
      await ended;
      profile.remove();
    },
  };
}

async function connect(address: string): Promise<(method: string, params: object) => Promise<unknown>> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  return async (method, params) => {
    last += 1;
    const id = last;
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`);
    return answer.result;
  };
}
