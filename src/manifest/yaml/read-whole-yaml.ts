import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { readYaml, schemaFaults } from './read-yaml.ts';
import { readSource } from './source.ts';

/** Reads a schema in JSON or YAML as one value. JSON is YAML, so both get the same words and places for mistakes. */
export function readWholeYaml(file: string, text: string): { value?: Json | undefined; diagnostics: Diagnostic[] } {
  const { value, diagnostics } = readYaml(readSource(file, text), schemaFaults);
  return { value, diagnostics };
}
