import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the tests read of the OpenAPI document. */
export interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly [part: string]: unknown;
}

type Method = 'get' | 'post' | 'delete';

type PathItem = { readonly servers?: readonly { readonly url: string }[] } & {
  readonly [method in Method]?: { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> };
};

export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** From the root of the host, as in `/api/v1/image/status/{id}`. */
  readonly path: string;
  /** Keys of its responses: `2XX`, `401`, `default`, … */
  readonly statuses: readonly string[];
}

export const documentPath = fileURLToPath(new URL('service.openapi.json', import.meta.url));

/**
 * The document with its server's path in front of every path: prism serves what stands in `paths` and leaves the path
 * of `servers` away, so that `/api/v1` would be missing and `/api-docs/openapi.json` would be sought below it.
 */
export function readDocument(): Document {
  const document = JSON.parse(readFileSync(documentPath, 'utf8')) as Document;
  const paths = Object.entries(document.paths).map(([path, item]) => [
    item.servers?.[0]?.url === '/' ? path : `/api/v1${path}`,
    item,
  ]);
  return { ...document, paths: Object.fromEntries(paths) as Document['paths'] };
}

export function listOperations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (['get', 'post', 'delete'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      return [{ id: operation.operationId, method, path, statuses: Object.keys(operation.responses) }];
    }),
  );
}
