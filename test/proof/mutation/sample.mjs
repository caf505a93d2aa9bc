import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

// In the copy that is mutated: says which mutants there are, and which of them belong to the sample.
//   node test/proof/mutation/sample.mjs <seed> <size> <files as JSON>   prints the ids of the sample as JSON

/** Stryker sees every mutant that its checker lets pass. */
export const strykerPlugins = [
  {
    kind: 'Checker',
    name: 'sample',
    injectableClass: class {
      #sample = new Set();

      async init() {
        this.#sample = new Set(JSON.parse(readFileSync(process.env.MEDIABATCH_MUTATION_SAMPLE, 'utf8')));
      }

      async check(mutants) {
        const statusOf = (mutant) =>
          this.#sample.has(idOf(mutant.fileName, mutant))
            ? { status: 'passed' }
            : { status: 'compileError', reason: 'not in the sample' };
        return Object.fromEntries(mutants.map((mutant) => [mutant.id, statusOf(mutant)]));
      }

      group(mutants) {
        return [mutants.map(({ id }) => id)];
      }
    },
  },
];

/** The same for the same source, wherever it lies. Lines of a report count from 1, those of the instrumenter from 0. */
export function idOf(path, { location: { start, end }, replacement }, firstLine = 0) {
  const file = path.replaceAll('\\', '/').replace(/^.*\/src\//, 'src/');
  const place = [start, end].map(({ line, column }) => `${line - firstLine}:${column - firstLine}`).join('-');
  return `${file}:${place} ${replacement}`;
}

async function listMutants(files) {
  const { createInstrumenter } = await import('@stryker-mutator/instrumenter');
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false };
  const injector = { provideValue: () => injector, injectClass: (Instrumenter) => new Instrumenter(silent) };
  const sources = files.map((name) => ({ name, mutate: true, content: readFileSync(name, 'utf8') }));
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true };
  const { mutants } = await createInstrumenter(injector).instrument(sources, options);
  return mutants.map((mutant) => idOf(mutant.fileName, mutant));
}

const [, script, seed, size, files] = process.argv;
if (script === import.meta.filename && files !== undefined) {
  const all = await listMutants(JSON.parse(files));
  const rank = (id) => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const chosen = all.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Number(size));
  process.stdout.write(JSON.stringify({ all: all.length, chosen }));
}
