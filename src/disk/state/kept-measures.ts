import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { orForgotten } from './kept-json.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

/** Measurements of one file, by aspect; empty for an aspect that the file does not state. */
type Measured = { readonly [aspect in Aspect]?: MediaFacts };

const fileName = 'measures.json';
const mostBytes = 64 * 1024 ** 2;

/** Cache of slow measurements by SHA-256, stored outside git, sealed. Losing it does no harm. */
export class KeptMeasures {
  readonly #state: string;
  #known: Promise<Map<string, Measured>> | undefined;
  #isNewer = false;

  constructor(state: string) {
    this.#state = state;
  }

  async get(sha256: string): Promise<Measured | undefined> {
    return (await this.#open()).get(sha256);
  }

  async add(sha256: string, measured: Measured): Promise<void> {
    const known = await this.#open();
    known.set(sha256, { ...known.get(sha256), ...measured });
    this.#isNewer = true;
  }

  async keep(): Promise<void> {
    if (!this.#isNewer) return;
    this.#isNewer = false;
    const text = JSON.stringify({ version: 3, measures: Object.fromEntries(await this.#open()) });
    await orForgotten(() => writeSealedFile(this.#state, fileName, `${text}\n`));
  }

  #open(): Promise<Map<string, Measured>> {
    this.#known ??= orForgotten(async () => {
      const bytes = await readSealedFile(this.#state, fileName, mostBytes);
      return bytes === undefined ? undefined : readAll(JSON.parse(bytes.toString('utf8')) as Json);
    }).then((known) => known ?? new Map());
    return this.#known;
  }
}

/** Returns `undefined` for another version. Nothing else is checked: the seal proves that this user wrote it. */
function readAll(json: Json): Map<string, Measured> | undefined {
  if (!isMap(json) || json.version !== 3 || !isMap(json.measures)) return undefined;
  return new Map(Object.entries(json.measures) as [string, Measured][]);
}
