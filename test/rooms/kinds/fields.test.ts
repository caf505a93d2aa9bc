import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sandboxDocument } from '../../../src/campaign/embed-sandbox.ts';
import { checkRequest } from '../../../src/graph/check/check-request.ts';
import type { Json } from '../../../src/ground/json.ts';
import { type JsonMap, mapOf } from '../../../src/ground/values.ts';
import { kinds } from '../../../src/kinds/index.ts';
import type { Field, Kind } from '../../../src/kinds/kind.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';
import { kindSection } from '../../../src/report/manual/references.ts';
import { root } from '../../rig/command.ts';

/**
 * A field of a request is declared once, in `src/kinds`. Its readers are the schema of the manifest, the check, and
 * `help kinds`. The sandbox is a service of its own and declares it again, on purpose: here the two are compared.
 */
const fields = Object.values(kinds).flatMap((kind) =>
  Object.entries(kind.fields).map(([name, field]): [string, Kind, string, Field] => [
    `${kind.name}.${name}`,
    kind,
    name,
    field,
  ]),
);

const schema = JSON.parse(readFileSync(join(root, 'schemas/manifest.schema.json'), 'utf8')) as JsonMap;
let bodies: { [kind: string]: JsonMap } = {};
beforeAll(async () => {
  const { creates } = readServiceDocument(await sandboxDocument(), kinds);
  bodies = Object.fromEntries(Object.entries(creates).map(([kind, { schema: body }]) => [kind, mapOf(body)]));
});

describe.each(fields)('%s', (_title, kind, name, field) => {
  const isModel = kind.model?.field === name;
  const values = isModel ? Object.keys(kind.model?.models ?? {}) : field.values;

  test('has its limits in the schema of the manifest', () => {
    const request = mapOf(mapOf(schema.definitions)[`${kind.name}Request`]);
    const written = JSON.stringify(mapOf(request.properties)[name]);
    expect(written).toContain(JSON.stringify(field.description).slice(1, -1));
    if (values !== undefined) expect(written).toContain(`"enum":${JSON.stringify(values)}`);
    else if (field.maxLength !== undefined) expect(written).toContain(`"maxLength":${field.maxLength}`);
    if (field.url === true) expect(written).toContain('^https://');
  });

  test('is refused beyond them before anything is paid', () => {
    const refuses = (value: Json | undefined) => {
      const request = value === undefined ? {} : { [name]: value };
      return checkRequest(kind, request).some(({ at, severity }) => at[0] === name && severity !== 'warning');
    };
    expect(refuses([['nested']]), 'of another type').toBe(true);
    if (field.required === true) expect(refuses(undefined), 'missing').toBe(true);
    if (values !== undefined) expect(refuses('no-such-value'), 'another value').toBe(true);
    if (field.maxLength !== undefined) {
      expect(refuses('x'.repeat(field.maxLength + 1)), 'too long').toBe(true);
      expect(refuses('x'.repeat(field.maxLength)), 'as long as allowed').toBe(false);
    }
    if (field.url === true)
      expect(refuses(field.type === 'strings' ? ['http://a.b'] : 'http://a.b'), 'http').toBe(true);
  });

  test('has its limits in `help kinds`', () => {
    const section = kindSection(kind, undefined);
    const line = section.split('\n').find((one) => one.includes(`\`${name}\``)) ?? '';
    expect(line).toContain(field.description);
    if (field.maxLength !== undefined) expect(line).toContain(`At most ${field.maxLength} characters.`);
    for (const value of values ?? []) expect(isModel ? section : line).toContain(value);
  });

  test('has the same limits in the document of the sandbox', () => {
    const body = bodies[kind.name];
    const shown = mapOf(mapOf(body?.properties)[name]);
    // Fields and limits of an undocumented request are the choice of the sandbox. A file is not sent as a field.
    if (body === undefined || field.type === 'file' || (!kind.create.documented && shown.type === undefined)) return;
    const types = { string: 'string', file: 'string', strings: 'array', number: 'number', boolean: 'boolean' };
    expect(shown.type === 'integer' ? 'number' : shown.type).toBe(types[field.type]);
    if (field.maxLength !== undefined) expect(shown.maxLength).toBe(field.maxLength);
    const listed = Array.isArray(shown.enum) ? [...shown.enum].map(String).sort() : undefined;
    if (values !== undefined && kind.create.documented) expect(listed).toEqual([...values].sort());
    if (field.required === true) expect(body.required).toContain(name);
  });
});
