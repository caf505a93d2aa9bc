import type { Diagnostic } from '../../ground/diagnostic.ts';
import { describeValue, mapOf, mustGet, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { describeProblem, type SchemaProblem } from '../../manifest/check/json-schema.ts';
import { besideManifest } from '../../manifest/file-path.ts';
import { extensionOf } from '../../manifest/rows/read-rows.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { readYaml, yamlFaults } from '../../manifest/yaml/read-yaml.ts';
import { readSource } from '../../manifest/yaml/source.ts';
import type { Expansion } from '../expansion.ts';

interface RowSchema {
  path: string;
  data: string;
  at: Path;
}

export function checkRowSchema({ path, data: name, at }: RowSchema, rows: Rows, expansion: Expansion): void {
  const { manifest } = expansion;
  const { data, schemaCompiler } = expansion.facts;
  if (schemaCompiler === undefined) throw new Error('internal error: a schema for rows without a schema checker');
  const place = manifest.places.value(at);
  const wrong = (message: string, hint: string) => expansion.reportError({ code: 'MB1305', message, hint, place });
  const file = mustGet(data, path);
  if (!('text' in file)) {
    const why = 'problem' in file && file.problem === 'missing' ? 'does not exist' : 'cannot be read';
    wrong(
      `the schema ${shorten(path)} ${why}`,
      'name a JSON Schema below the folder of the manifest, as in products.schema.json',
    );
    return;
  }
  const read = readYaml(readSource(besideManifest(manifest.file, path), file.text), yamlFaults.schema);
  for (const diagnostic of read.diagnostics) expansion.report(diagnostic);
  if (read.diagnostics.length > 0) return;
  const isTable = ['csv', 'xlsx'].includes(extensionOf(name) ?? '');
  const compiled = schemaCompiler(read.value ?? null, { textsAreValues: isTable });
  if ('problem' in compiled) {
    wrong(
      `${shorten(path)} is not a JSON Schema: ${shorten(compiled.problem, 200)}`,
      'write a JSON Schema 2020-12 or draft-07 that does not refer to other files',
    );
    return;
  }
  let problems = 0;
  for (const row of rows.rows) {
    if (Object.values(mapOf(row.value)).includes(unknownValue)) continue;
    const found = compiled.validate(row.value);
    if (found === 'too-much') {
      const hint = 'make the schema simpler: fewer parts that refer to each other, shorter lists and patterns';
      wrong(`checking ${row.label} against ${shorten(path)} takes too long`, hint);
      return;
    }
    for (const problem of found) expansion.report(describe(problem, row, place));
    problems += found.length;
    // Only 100 problems are shown.
    if (problems >= mostProblems) return;
  }
}

const mostProblems = 500;
function describe(problem: SchemaProblem, row: Row, place: Diagnostic['place']): Diagnostic {
  const [column] = problem.path;
  const about = problem.about === undefined ? '' : ` The schema says: ${problem.about}`;
  const { message, hint = 'correct the row or the schema' } = describeProblem(problem, {
    value: row.value,
    refused: 'the schema does not allow',
    fields: [],
    nameOf: (path) => (path.length === 0 ? row.label : `\`${path.join('.')}\` of ${row.label}`),
    describe: describeValue,
  });
  return {
    code: 'MB1304',
    severity: 'error',
    message,
    hint: `${hint}.${about}`,
    place: row.place(typeof column === 'string' ? column : undefined),
    related: place === undefined ? [] : [{ message: 'the schema', place }],
  };
}
