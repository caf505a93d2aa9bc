import type { RequestBodies } from '../contract/state.ts';
import type { Database } from './database.ts';
import { held, type Term, writeAsHead } from './guarded.ts';
import type { Seal } from './seal.ts';

/** Bodies of creates in flight, sealed, because they hold signed links. They go with their answers. */
export function openBodies(database: Database, term: Term & { run: string }, seal: Seal): RequestBodies {
  const { run } = term;
  const drop = (key: string) => {
    const text = `${held}, gone AS (
        DELETE FROM mediabatch.body WHERE run = $3 AND key = $4 AND EXISTS (SELECT FROM held))
      SELECT count(*) AS held FROM held`;
    return writeAsHead(database, term, text, [run, key]);
  };
  return {
    keep(key, body) {
      const text = `${held}, written AS (
          INSERT INTO mediabatch.body (run, key, epoch, sealed) SELECT $3::text, $4::text, epoch, $5::bytea FROM held
          ON CONFLICT (run, key) DO UPDATE SET epoch = excluded.epoch, sealed = excluded.sealed)
        SELECT count(*) AS held FROM held`;
      return writeAsHead(database, term, text, [run, key, seal.seal(body)]);
    },
    async read(key) {
      const text = 'SELECT sealed FROM mediabatch.body WHERE run = $1 AND key = $2';
      const [row] = await database.query<{ sealed: Buffer }>(text, [run, key]);
      return row && seal.open(row.sealed);
    },
    drop,
    // A link is not kept here longer than it must be.
    answered: drop,
  };
}
