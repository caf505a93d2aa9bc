import { resolve } from 'node:path';
import {
  busyHint,
  type Fault,
  type RunningSandbox,
  readFaults,
  sandboxKey,
  startSandbox,
} from '../../campaign/embed-sandbox.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { readSmallFile } from '../../disk/fs/plain-file.ts';
import { call, way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { faint, good, line } from '../../report/document.ts';
import { listenForInterruption } from '../signals.ts';
import { type Terminal, tell } from '../terminal.ts';

interface SandboxCommandOptions {
  port: number;
  credits?: number;
  speed: number;
  failRate: number;
  faults?: string;
  data: string;
  files?: string;
}

const longestFaults = 1024 * 1024;

export async function sandbox(options: SandboxCommandOptions, terminal: Terminal): Promise<number> {
  const faults = options.faults === undefined ? undefined : await requireFaults(options.faults);
  const running = await start(options, faults);
  // Listens before the address is printed, because a caller may end the sandbox as soon as it has read it.
  const interruption = listenForInterruption();
  tell(
    terminal,
    line(
      [good('sandbox'), ` ${running.url}  ${running.balance()} credits, state in ${options.data}`],
      [
        line(faint(`watch its jobs, credits and files: ${new URL('/', running.url).href}`)),
        line(faint('use it from another terminal:')),
      ],
    ),
  );
  terminal.out(`export MEDIABATCH_BASE_URL=${running.url}\nexport MEDIABATCH_API_KEY=${sandboxKey}\n`);
  await new Promise<void>((done) => interruption.signal.addEventListener('abort', () => done(), { once: true }));
  interruption.stop();
  await running.close();
  return exitCodes.done;
}

async function start(options: SandboxCommandOptions, faults: Fault[] | undefined): Promise<RunningSandbox> {
  try {
    return await startSandbox({
      dataDir: resolve(options.data),
      ...(options.files !== undefined && { filesDir: resolve(options.files) }),
      port: options.port,
      speed: options.speed,
      failRate: options.failRate,
      ...defined({ credits: options.credits, faults }),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CampaignError({
        code: 'MB3303',
        message: `port ${options.port} is taken`,
        hint: 'give another port with --port; 0 takes any free port',
        port: options.port,
      });
    }
    throw new CampaignError({
      code: 'MB3301',
      message: `the sandbox cannot start: ${message}`,
      ...(code === 'EBUSY' && { hint: ['give another folder with --data, or:', ...busyHint] }),
    });
  }
}

async function requireFaults(path: string): Promise<Fault[]> {
  try {
    if (readSmallFile(path, longestFaults) === undefined) {
      throw new Error(`${path}: the file does not exist or cannot be read`);
    }
    return await readFaults(path);
  } catch (error) {
    throw new CampaignError({
      code: 'MB3104',
      message: `--faults ${messageOf(error)}`,
      hint: way('see an example', call('help', 'sandbox')),
      file: path,
    });
  }
}
