import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { flagOf, isKept, type OptionRow, optionTable } from '../src/campaign/option-table.ts';
import { failures } from '../src/contract/failure.ts';
import { kinds } from '../src/kinds/index.ts';
import { composeManifest } from './compose-manifest.ts';
import { smallSchemas } from './documents.ts';
import { type Schema, withoutNotes } from './schema.ts';
import { writeTypes } from './write-types.ts';
import { writeValidator } from './write-validator.ts';

/** One schema and what is made from it. Paths are relative to the root of the repository. */
interface Entry {
  /** Written by hand: rules, descriptions and `expected` sentences. */
  base: string;
  /** Committed, and published with the package. */
  schema?: { out: string; compose: (base: Schema) => Schema };
  /** `parts`: types of definitions that are used alone. Omitted: all. */
  types?: { out: string; name: string; parts?: readonly string[] };
  /** Of one definition, or of the whole schema. */
  validator?: { out: string; of?: string; finds: 'first' | 'all' };
}

const entries: Entry[] = [
  {
    base: 'schemas/manifest.base.json',
    schema: { out: 'schemas/manifest.schema.json', compose: (base) => composeManifest(base, kinds) },
    validator: { out: 'src/manifest/check/validate.generated.ts', finds: 'all' },
  },
  {
    base: 'schemas/lock.base.json',
    schema: { out: 'schemas/lock.schema.json', compose: (base) => withoutNotes(base) },
    types: { out: 'src/lock/record.generated.ts', name: 'Line' },
    validator: { out: 'src/lock/validate-line.generated.ts', of: 'lockLine', finds: 'first' },
  },
  {
    base: 'schemas/plan.schema.json',
    schema: { out: 'schemas/plan.schema.json', compose: withOptions },
    types: { out: 'src/plan/plan.generated.ts', name: 'WrittenPlan' },
    validator: { out: 'src/campaign/validate-plan.generated.ts', finds: 'first' },
  },
  {
    base: 'schemas/event.schema.json',
    schema: { out: 'schemas/event.schema.json', compose: withSharedDefinitions },
    types: { out: 'src/contract/event.generated.ts', name: 'RunEvent', parts: ['Outcome'] },
    validator: { out: 'src/campaign/validate-event.generated.ts', finds: 'first' },
  },
  {
    base: 'schemas/run.schema.json',
    schema: { out: 'schemas/run.schema.json', compose: withRunDefinitions },
    types: { out: 'src/contract/run-line.generated.ts', name: 'RunLine', parts: ['RunClose', 'RunHeader', 'RunTime'] },
    validator: { out: 'src/campaign/validate-run-line.generated.ts', finds: 'first' },
  },
  {
    base: 'schemas/comparison.schema.json',
    schema: { out: 'schemas/comparison.schema.json', compose: withComparedDefinitions },
  },
  {
    base: 'schemas/status.schema.json',
    schema: { out: 'schemas/status.schema.json', compose: withAnswers },
  },
  {
    base: 'schemas/result.schema.json',
    schema: { out: 'schemas/result.schema.json', compose: withResultDefinitions },
  },
  {
    base: 'schemas/failure.base.json',
    schema: { out: 'schemas/failure.schema.json', compose: withCodes },
  },
];

for (const entry of entries) {
  if (entry.schema !== undefined) writeSchema(entry.schema.out, entry.schema.compose(readSchema(entry.base)));
  const base = readSchema(entry.base);
  if (entry.types !== undefined) write(entry.types.out, await writeTypes(base, entry.types));
  if (entry.validator !== undefined) {
    const { out, of, finds } = entry.validator;
    const whole = of === undefined ? base : { $defs: base.$defs, $ref: `#/$defs/${of}` };
    write(out, writeValidator(whole, entry.base, { finds }));
  }
}

for (const { name, schema } of smallSchemas()) writeSchema(`schemas/${name}.schema.json`, schema);

/** The options that a saved plan keeps are those of the table. */
function withOptions(plan: Schema): Schema {
  const $defs = plan.$defs as { [name: string]: Schema };
  const kept = Object.entries(optionTable as { [name: string]: OptionRow }).filter(([, row]) => isKept(row));
  const properties = Object.fromEntries(kept.map(([name, row]) => [name, optionSchema(row)]));
  return { ...plan, $defs: { ...$defs, options: { ...$defs.options, properties } } };
}

function optionSchema(row: OptionRow): Schema {
  const { takes, range } = row;
  const path = { type: 'string', pattern: '^[^\\u0000]+$' };
  const seen = takes === 'path' || takes === 'paths' ? ', relative to the folder of the plan file.' : '';
  const description = `${flagOf(row)}${seen}`;
  switch (takes) {
    case 'path':
      return { description, ...path };
    case 'texts':
      return { description, type: 'array', items: { type: 'string' }, minItems: 1 };
    case 'paths':
      return { description, type: 'array', items: path, minItems: 1 };
    case 'pairs':
      return { description, type: 'object', additionalProperties: { type: 'string' } };
    case 'number':
      return {
        ...{ description, type: range?.whole ? 'integer' : 'number', minimum: range?.least },
        ...(range?.most !== undefined && { maximum: range.most }),
      };
    case undefined:
      return row.flags.includes('<') ? { description, type: 'string' } : { description, const: true };
    default:
      throw new Error(`a saved plan cannot keep ${description}: what ${takes} is in JSON is not said here`);
  }
}

/** The codes are those of the table, and mistakes have the form that they have everywhere. */
function withCodes(failure: Schema): Schema {
  const {
    report: _report,
    reports: _reports,
    ...shared
  } = readSchema('schemas/diagnostics.schema.json').$defs as Schema;
  const { code, ...others } = failure.properties as { [name: string]: Schema };
  const properties = { ...others, code: { ...code, enum: Object.keys(failures) } };
  return { ...failure, properties, $defs: { ...(failure.$defs as Schema), ...shared } };
}

/** What events tell of the plan and of the lock has the form that it has there. */
function withSharedDefinitions(events: Schema): Schema {
  const plan = readSchema('schemas/plan.schema.json').$defs as Schema;
  const { action, totals, estimate, need, 'price-source': source } = plan;
  const { output, amount } = withoutNotes(readSchema('schemas/lock.base.json')).$defs as Schema;
  return {
    ...events,
    $defs: { ...(events.$defs as Schema), action, totals, estimate, need, 'price-source': source, output, amount },
  };
}

function withRunDefinitions(runs: Schema): Schema {
  const { totals, estimate, 'price-source': source } = readSchema('schemas/plan.schema.json').$defs as Schema;
  const { outcome } = readSchema('schemas/event.schema.json').$defs as Schema;
  return { ...runs, $defs: { ...(runs.$defs as Schema), totals, estimate, 'price-source': source, outcome } };
}

/** Fields that differ have the form that they have in a plan, and so has how far a budget carries. */
function withComparedDefinitions(comparison: Schema): Schema {
  const { change, cause, totals = {} } = readSchema('schemas/plan.schema.json').$defs as { [name: string]: Schema };
  const planned = (totals.properties as { fit: Schema }).fit;
  const left = { description: 'Credits left.', type: 'integer', minimum: 0 };
  const fit = {
    ...planned,
    required: [...(planned.required as string[]), 'left'],
    properties: { ...(planned.properties as Schema), left },
  };
  return { ...comparison, $defs: { ...(comparison.$defs as Schema), change, cause, fit } };
}

/** Again, a person, paid: as failures answer it. */
function withAnswers(document: Schema): Schema {
  const { again, person, paid } = readSchema('schemas/failure.base.json').properties as Schema;
  return { ...document, properties: { ...(document.properties as Schema), again, person, paid } };
}

/** The last event, its parts, and what a plan says of gates and of what leads on. */
function withResultDefinitions(result: Schema): Schema {
  const { next, gate: planned, need } = readSchema('schemas/plan.schema.json').$defs as Schema & { gate: Schema };
  const events = readSchema('schemas/event.schema.json').$defs as Schema;
  const { 'run-ended': end, outcome, estimated } = events;
  const { gate, ...own } = result.$defs as { [name: string]: Schema };
  const { members: _members, task: _task, picked: _picked, note: _note, ...facts } = planned.properties as Schema;
  const $defs = { ...own, gate: { ...gate, properties: facts }, next, need, 'run-ended': end, outcome, estimated };
  return withAnswers({ ...result, $defs });
}

function readSchema(path: string): Schema {
  return JSON.parse(readFileSync(absolute(path), 'utf8')) as Schema;
}

/** Left alone when it says the same already, so that a build does not touch a committed file. */
function writeSchema(path: string, schema: Schema): void {
  if (existsSync(absolute(path)) && isDeepStrictEqual(readSchema(path), JSON.parse(JSON.stringify(schema)))) return;
  write(path, `${JSON.stringify(schema, null, 2)}\n`);
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  execFileSync(process.execPath, [biome, 'format', '--write', absolute(path)], { stdio: 'ignore' });
}

function write(path: string, text: string): void {
  if (existsSync(absolute(path)) && readFileSync(absolute(path), 'utf8') === text) return;
  writeFileSync(absolute(path), text);
}

function absolute(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
