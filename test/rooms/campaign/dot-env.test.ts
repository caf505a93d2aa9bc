import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment, requireAccess } from '../../../src/campaign/environment.ts';
import { makeFolder } from '../disk/folder.ts';

const baseUrl = 'https://api.example/api/v1';
const token = 'mb_live_0123456789abcdef';
const plain = `MEDIABATCH_BASE_URL=${baseUrl}\nMEDIABATCH_API_KEY=${token}\n`;
const bigEndian = Buffer.from(`\ufeff${plain}`, 'utf16le').swap16();

test.each<[string, string | Buffer]>([
  ['plain lines', plain],
  ['a byte order mark', `\ufeff${plain}`],
  ['CR LF', plain.replaceAll('\n', '\r\n')],
  ['UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${plain}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(plain, 'utf16le')],
  ['UTF-16, big-endian', bigEndian],
  ['set NAME=value', plain.replace(/^/gm, 'set ').trimEnd()],
  ['set "NAME=value"', plain.replace(/^(.+)$/gm, 'set "$1"')],
  ['NAME: value', plain.replaceAll('=', ': ')],
  ['export NAME=value', plain.replace(/^(.+)$/gm, 'export $1')],
])('reads a .env with %s', (_name, text) => {
  const folder = makeFolder();
  writeFileSync(join(folder, '.env'), text);
  expect(readEnvironment({}, folder)).toEqual({ baseUrl, token });
});

test.each([
  ['the key', { MEDIABATCH_BASE_URL: baseUrl }, 'MEDIABATCH_API_KEY is not set'],
  ['the address', { MEDIABATCH_API_KEY: token }, 'MEDIABATCH_BASE_URL is not set'],
])('half exported: %s of a .env is left unread, and the error says why', (_name, env, message) => {
  const folder = makeFolder();
  writeFileSync(join(folder, '.env'), plain);
  const environment = readEnvironment(env, folder);
  expect(() => requireAccess(environment)).toThrow(message);
  expect(() => requireAccess(environment)).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({ hint: expect.stringContaining('.env has the value') }),
    }),
  );
});
