import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Fault, LedgerEntry, SandboxRequest } from '../../src/sandbox/index.ts';
import { alikeFiles } from './alike-files.ts';
import { root, sandboxKey } from './command.ts';

/** The service in the process of the test, and so outside the command's: cheap to start, and its books lie open. */
export interface ServiceHere {
  env: Record<string, string>;
  ledger(): LedgerEntry[];
  requests(): SandboxRequest[];
  balance(): number;
  addFaults(faults: Fault[]): void;
  clearFaults(): void;
  close(): Promise<void>;
}

export interface ServiceOptions {
  speed?: number;
  credits?: number;
  failRate?: number;
  faults?: Fault[];
  filesDir?: string;
  /** Where its books and files are kept; without it they go with it. */
  dataDir?: string;
  apiKey?: string;
  now?: () => number;
  /** `alike`: pictures and films of one shape are drawn once. Default; `drawn` for a test that looks at them. */
  files?: 'alike' | 'drawn';
}

/** Id of the first account that may publish, as the service lists it. */
export async function firstAccount({ env }: { env: Record<string, string> }): Promise<string> {
  const { MEDIABATCH_BASE_URL: base, MEDIABATCH_API_KEY: key } = env;
  const answer = await fetch(`${base}/accounts`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data[0]?.id ?? '';
}

export async function serviceHere({ files = 'alike', ...options }: ServiceOptions = {}): Promise<ServiceHere> {
  // The built one renders in a thread of its own.
  const built = pathToFileURL(join(root, 'dist/sandbox/index.js')).href;
  const { createSandbox } = (await import(built)) as typeof import('../../src/sandbox/index.ts');
  const filesDir = options.filesDir ?? process.env.MEDIABATCH_TEST_FILES;
  const sandbox = createSandbox({
    speed: Number.POSITIVE_INFINITY,
    apiKey: sandboxKey,
    ...options,
    ...(filesDir !== undefined && { filesDir }),
    ...(files === 'alike' && { renderer: alikeFiles }),
  });
  const { url } = await sandbox.listen();
  return {
    env: {
      MEDIABATCH_BASE_URL: url,
      MEDIABATCH_API_KEY: options.apiKey ?? sandboxKey,
      // Ports come back, and with them the purchase journal of another test.
      XDG_STATE_HOME: join(process.env.XDG_STATE_HOME ?? tmpdir(), randomUUID()),
    },
    ledger: () => sandbox.ledger(),
    requests: () => sandbox.requests(),
    balance: () => sandbox.balance(),
    addFaults: (faults) => sandbox.addFaults(faults),
    clearFaults: () => sandbox.clearFaults(),
    close: () => sandbox.close(),
  };
}
