import { compile } from 'json-schema-to-typescript';
import { type Schema, withoutNotes } from './schema.ts';

/** TypeScript types for what a schema describes. */
export async function writeTypes(base: Schema, name: string): Promise<string> {
  const { $id: _id, title: _title, ...schema } = withoutNotes(base, ['expected']);
  return compile(schema, name, {
    bannerComment: '/** Made from the schema by `npm run generate`. */',
    strictIndexSignatures: false,
    format: false,
  });
}
