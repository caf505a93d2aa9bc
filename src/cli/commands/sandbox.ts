import { resolve } from 'node:path';
import {
  busyHint,
  type Fault,
  type RunningSandbox,
  readFaults,
  sandboxKey,
  startSandbox,
} from '../../campaign/embed-sandbox.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { faint, good, line } from '../../report/document.ts';
import type { Texts } from '../open.ts';
import { listenForInterruption } from '../signals.ts';
import { print, type Terminal } from '../terminal.ts';

type SandboxOptions = Texts<'faults' | 'files'> &
  Record<'port' | 'speed' | 'failRate', number> & { credits?: number; data: string };

export async function sandbox(options: SandboxOptions, terminal: Terminal): Promise<void> {
  const running = await start(options);
  // Signals are handled before the address is printed, because a caller may end the sandbox once it has the address.
  const interruption = listenForInterruption();
  print(
    terminal,
    line(
      [good('sandbox'), ` ${running.url}  ${running.balance()} credits, state in ${options.data}`],
      [
        line(faint(`jobs, credits and files of the sandbox: ${new URL('/', running.url).href}`)),
        line(faint('to use the sandbox from another terminal:')),
      ],
    ),
  );
  terminal.out(`export MEDIABATCH_BASE_URL=${running.url}\nexport MEDIABATCH_API_KEY=${sandboxKey}\n`);
  await interruption.firstSignal;
  interruption.stop();
  await running.close();
}

async function start(options: SandboxOptions): Promise<RunningSandbox> {
  const { data, files, port, speed, failRate, credits } = options;
  const faults = options.faults === undefined ? undefined : await requireFaults(options.faults);
  try {
    return await startSandbox({
      ...{ port, speed, failRate },
      ...defined({ credits, faults }),
      files: { dataDir: resolve(data), filesDir: files && resolve(files) },
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const hint = 'choose another port with --port; 0 selects any free port';
      throw new CampaignError({ code: 'MB3303', message: `port ${port} is already in use`, hint, port });
    }
    const hint = code === 'EBUSY' ? ['choose another folder with --data, or:', ...busyHint] : undefined;
    throw new CampaignError({
      code: 'MB3301',
      message: `the sandbox cannot start: ${message}`,
      ...defined({ hint }),
    });
  }
}

async function requireFaults(file: string): Promise<Fault[]> {
  try {
    return await readFaults(file);
  } catch (error) {
    const hint = way('see an example', call('help', 'sandbox'));
    throw new CampaignError({ code: 'MB3104', message: `--faults ${messageOf(error)}`, hint, file });
  }
}
