import type { Kind } from './kind.ts';

/** The path for creates of a kind, or why none is certain. */
export type FoundRoute = { path: string; byOperation?: true } | { missing: string };

/**
 * Finds the POST operation that creates jobs of a kind: one with a known path, or else the only one in the kind's
 * collection that takes its fields. `takes`: the fields of an operation's body.
 */
export function findRoute(
  kind: Kind,
  document: { posts: readonly string[]; takes(path: string): ReadonlySet<string> },
): FoundRoute {
  const { paths } = kind.create;
  const known = paths.find((path) => document.posts.includes(path));
  if (known !== undefined) return { path: known };
  const collection = `/${paths[0].split('/')[1]}`;
  const fields = Object.keys(kind.fields);
  // The first field is what a job is made from: an operation that does not take it is a different one.
  const [main = ''] = fields;
  const candidates = document.posts
    .filter((path) => path.startsWith(`${collection}/`) && !path.includes('{'))
    .map((path) => ({ path, takes: document.takes(path) }))
    .filter(({ takes }) => takes.has(main));
  const whole = candidates.filter(({ takes }) => fields.every((field) => takes.has(field)));
  const [only, ...others] = candidates.length > 1 ? whole : candidates;
  if (only !== undefined && others.length === 0) return { path: only.path, byOperation: true };
  const sought = paths.map((path) => `POST ${path}`).join(' or ');
  const found = candidates.slice(0, 3).map(({ path }) => `POST ${path}`);
  const why =
    found.length === 0
      ? `no other POST below ${collection} takes \`${main}\``
      : `which of ${found.join(', ')} does it cannot be told`;
  return { missing: `the service's OpenAPI document has no ${sought}, and ${why}` };
}
