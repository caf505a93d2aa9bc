import type { Call, JsonObject, Reply } from './wire.ts';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `api`: the path is below `/api/v1`. `root`: the path is absolute. */
  readonly base: 'api' | 'root';
  /** Path with `{name}` segments. A segment matches any text; only the last segment matches an empty text. */
  readonly path: string;
  readonly operation: JsonObject;
  readonly run: (call: Call, parameters: Readonly<Record<string, string>>) => Reply | Promise<Reply>;
}

type Match =
  | { readonly type: 'endpoint'; readonly endpoint: Endpoint; readonly parameters: Readonly<Record<string, string>> }
  | { readonly type: 'wrong method'; readonly allowed: readonly string[] }
  | { readonly type: 'bad encoding' }
  | { readonly type: 'nothing' };

const prefixes = { api: '/api/v1', root: '' } as const;

export function matchEndpoint(endpoints: readonly Endpoint[], method: string, path: string): Match {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const allowed: string[] = [];
  for (const endpoint of endpoints) {
    const raw = matchPath(prefixes[endpoint.base] + endpoint.path, path);
    if (raw === undefined) continue;
    if (endpoint.method !== wanted) {
      allowed.push(endpoint.method, ...(endpoint.method === 'GET' ? ['HEAD'] : []));
      continue;
    }
    try {
      const parameters = Object.fromEntries(raw.map(([name, value]) => [name, decodeURIComponent(value)]));
      return { type: 'endpoint', endpoint, parameters };
    } catch {
      return { type: 'bad encoding' };
    }
  }
  return allowed.length > 0 ? { type: 'wrong method', allowed } : { type: 'nothing' };
}

function matchPath(pattern: string, path: string): [string, string][] | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    const isLast = index === wanted.length - 1;
    if (name === undefined ? segment !== value : value === '' && !isLast) return undefined;
    if (name !== undefined) parameters.push([name, value]);
  }
  return parameters;
}
