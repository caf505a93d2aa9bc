import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import type { Fault, LedgerEntry, Renderer, RenderOrder, SandboxRequest } from '../../src/sandbox/index.ts';
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

export async function serviceHere({ files = 'alike', dataDir, ...options }: ServiceOptions = {}): Promise<ServiceHere> {
  // The built one renders in a thread of its own.
  const built = pathToFileURL(join(root, 'dist/sandbox/index.js')).href;
  const { createSandbox } = (await import(built)) as typeof import('../../src/sandbox/index.ts');
  const { filesDir = process.env.MEDIABATCH_TEST_FILES, ...more } = options;
  const sandbox = createSandbox({
    speed: Number.POSITIVE_INFINITY,
    apiKey: sandboxKey,
    ...more,
    files: { filesDir, ...(dataDir && { dataDir }), ...(files === 'alike' && { renderer: alikeFiles }) },
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

/** By its shape, for all services of this process: what one test had drawn serves the next. */
const drawn = new Map<string, Promise<Buffer>>();

/**
 * Draws one picture and one film of each shape, and marks each further file of it apart: drawn each by itself they take
 * half of the processor in tests that look at none of them. Everything else is drawn as it is.
 */
function alikeFiles(own: Renderer): Renderer {
  return {
    close: () => own.close(),
    async render(order) {
      const mark = markers.find(({ ending }) => order.fileName.endsWith(ending))?.mark;
      if (mark === undefined) return own.render(order);
      // What a drawing follows from as well: the request without the address of this service, and which take it is.
      const seed = Buffer.from(order.seed, 'hex');
      const shape = shapeOf(order);
      const known = drawn.get(shape);
      // Another service may have been closed while it drew.
      const bytes = await known?.catch(() => undefined);
      if (bytes !== undefined) return mark(bytes, seed);
      const drawing = own.render(order);
      drawn.set(shape, drawing);
      return mark(await drawing, seed);
    },
  };
}

/** What decides how large a file is and how long it plays: all but its texts, its links and its lists. */
function shapeOf({ kind, body, sourceMs, fileName }: RenderOrder): string {
  const fields = Object.entries(body).filter(
    ([name, value]) => name !== 'prompt' && !Array.isArray(value) && !String(value).includes('://'),
  );
  return JSON.stringify([kind, fileName, sourceMs, fields.sort()]);
}

const markers: readonly { ending: string; mark(bytes: Buffer, seed: Buffer): Buffer }[] = [
  { ending: '.png', mark: withText },
  { ending: '.webm', mark: withVoid },
];

/** A text chunk of PNG before the last one, which has no data: 12 bytes. */
function withText(bytes: Buffer, seed: Buffer): Buffer {
  const data = Buffer.from(`tEXtComment\0${seed.toString('hex')}`, 'latin1');
  const chunk = Buffer.alloc(data.length + 8);
  chunk.writeUInt32BE(data.length - 4, 0);
  data.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(data), data.length + 4);
  return Buffer.concat([bytes.subarray(0, -12), chunk, bytes.subarray(-12)]);
}

/** An element of EBML that is to be skipped. */
function withVoid(bytes: Buffer, seed: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.from([0xec, 0x80 | seed.length]), seed]);
}
