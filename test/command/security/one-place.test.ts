import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';

const source = join(root, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('sandbox/') && !path.includes('.generated.'));

/** Files whose code, without remarks, matches. */
function filesWith(pattern: RegExp): string[] {
  return files
    .filter((path) =>
      pattern.test(readFileSync(join(source, path), 'utf8').replace(/^\s*\/\*[\s\S]*?\*\/|\/\/ .*/gm, '')),
    )
    .sort();
}

/** Asks the service inside this process, through a function and without a socket. */
const embedded = 'campaign/embed-sandbox.ts';

describe('each guard stands in one place', () => {
  test('the standard streams are reached in few places, and written to in one', () => {
    expect(filesWith(/process\.(stdout|stderr)\.write/)).toEqual(['cli/bin.ts', 'cli/terminal.ts']);
    // Others listen for lost output, read the width, wait for the end of the output, or pass the terminal to screen and readline.
    const others = filesWith(/process\.(stdout|stderr)(?!\.(isTTY|write))/);
    expect(others).toEqual(['cli/ask-person.ts', 'cli/bin.ts', 'cli/commands/follow.ts', 'cli/recorder.ts']);
  });

  test('the key is taken out of texts by one function', () => {
    expect(filesWith(/replaceAll\([^)]*'\[key\]'/)).toEqual(['service/secrets.ts']);
    expect(filesWith(/export function makeRedact/)).toEqual(['service/secrets.ts']);
    // Whoever holds the token makes the function from it and hands both on together.
    expect(filesWith(/authorization: `Bearer/)).toEqual([embedded, 'service/http.ts']);
  });

  test('only the service room opens connections, but for those to the engine and its store', () => {
    const packages = "import\\('(undici|pg|pg-boss|aws4fetch)'\\)";
    const builtins = "^import (?!type ).*from '(undici|node:(http|https|http2|tls|dgram|dns)(\\/promises)?)'";
    // That of the platform, and not a method of this name.
    const network = new RegExp(`${builtins}|${packages}|(?:await|return|=>|[(=]) fetch\\(`, 'm');
    // The review page is asked, and asks its own server from a browser that lets it ask nobody else.
    const others = filesWith(network).filter((path) => !/^(service|page)\//.test(path));
    // A worker is asked for its health and figures where `--port` says.
    const asked = 'cluster/worker/operator-port.ts';
    const engine = ['cluster/database/boss.ts', 'cluster/database/database.ts', 'cluster/store/s3.ts', asked];
    expect(others).toEqual([...engine, 'review/serve/serve-review.ts']);
    expect(filesWith(/server\.listen\(/)).toEqual([asked, 'review/serve/serve-review.ts']);
    // `node:net` elsewhere is arithmetic on addresses, and a pipe that somebody has opened for `--events`.
    // An agent whose connections are tunnels of the user's proxy.
    expect(filesWith(/\b(createConnection|net\.connect)\(/)).toEqual(['service/proxy.ts']);
    // Which port is free is found out by listening to it for a moment.
    expect(filesWith(/\bcreateServer\(/)).toEqual([asked, 'review/serve/serve-review.ts']);
    expect(filesWith(/\bnew Socket\((?!\{ fd, readable: false)/)).toEqual([]);
  });

  test('an address is judged by one room, wherever a link of somebody else is followed', () => {
    expect(filesWith(/\b(httpRequest|httpsRequest)\b/)).toEqual(['service/links.ts', 'service/proxy.ts']);
    expect(filesWith(/\bexchange\(/)).toEqual(['service/exchange.ts', 'service/http.ts']);
    expect(filesWith(/export function (judgeLink|makeCheckedLookup)/)).toEqual(['service/address-guard.ts']);
    expect(filesWith(/makeCheckedLookup\(/)).toEqual(['service/address-guard.ts', 'service/links.ts']);
    // `ask` takes only what `judgeLink` allowed.
    expect(filesWith(/judgeLink\(/)).toEqual([
      'service/address-guard.ts',
      'service/download.ts',
      'service/upload-file.ts',
    ]);
  });

  test('an id of the service gets into an address by one function', () => {
    expect(filesWith(/replace\('\{id\}'/)).toEqual(['service/http.ts']);
    expect(filesWith(/encodeURIComponent\(/)).toEqual([
      // Names of objects in a bucket.
      'cluster/store/s3.ts',
      'graph/uploads.ts',
      'service/http.ts',
      'service/secrets.ts',
    ]);
    expect(filesWith(/export function isJobId/)).toEqual(['ground/job-id.ts']);
  });

  test('what a terminal obeys is made visible by one room', () => {
    expect(filesWith(/export function (safeText|safeJson)\b/)).toEqual(['report/safe-text.ts']);
  });

  test('only the disk room writes, but for what a person names or agrees to', () => {
    const writers =
      /\b(writeFile|writeFileSync|appendFile|appendFileSync|rename|renameSync|unlink|unlinkSync|rm|rmSync|mkdir|mkdirSync|symlink|link|createWriteStream|copyFile|cp)\(/;
    const elsewhere = filesWith(/from 'node:fs(\/promises)?'/).filter(
      (path) => !path.startsWith('disk/') && writers.test(readFileSync(join(source, path), 'utf8')),
    );
    expect(elsewhere).toEqual(writersOfTheirOwn);
  });
});

/** Where the command line says (a gallery), what a person has agreed to delete, scratch of our own, a store. */
const writersOfTheirOwn = [
  'campaign/embed-sandbox.ts',
  'campaign/find-leftovers.ts',
  'cluster/store/s3-store.ts',
  'cluster/store/store.ts',
  'review/gallery/gallery-folder.ts',
];
