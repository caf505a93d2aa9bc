import { type Json, stableJson } from './wire.ts';

/** Where files are served from: outputs and samples below `/files`, uploads below `/storage/public`. */
export interface OwnPath {
  readonly token: string;
  readonly name: string;
}

export const outputArea = '/files';
export const uploadArea = '/storage/public';

const ownPath = /^\/(?:files|storage\/public)\/([0-9a-f]{40})\/([^/]+)$/;
const ownOrigin = /https?:\/\/[^/"\s]+(?=\/(?:files|storage\/public)\/[0-9a-f]{40}\/)/g;

/** Reads a URL that may name a file of this sandbox. The host does not count: a sandbox has many names. */
export function readOwnUrl(url: string): OwnPath | undefined {
  if (!URL.canParse(url)) return undefined;
  const [, token, name] = ownPath.exec(new URL(url).pathname) ?? [];
  return token === undefined || name === undefined ? undefined : { token, name: decodeName(name) };
}

/** A body as text, with links to own files without their host: the sandbox may listen on another port tomorrow. */
export function bodyText(body: Json): string {
  return stableJson(body).replace(ownOrigin, '');
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
