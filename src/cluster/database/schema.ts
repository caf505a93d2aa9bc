import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import type { Database, Sql } from './database.ts';

/** The number of migrations is the schema version. Never change a released migration. */
const migrations = [
  `
  CREATE TABLE mediabatch.account (
    id text PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,
    head text,
    beat timestamptz,
    error text,
    create_timeout_ms float8 NOT NULL DEFAULT 0,
    spent jsonb
  );
  CREATE TABLE mediabatch.run (
    id text PRIMARY KEY,
    account text NOT NULL REFERENCES mediabatch.account,
    protocol int NOT NULL,
    campaign text NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'ended')),
    settings jsonb NOT NULL,
    totals jsonb NOT NULL,
    header bytea NOT NULL,
    origin jsonb NOT NULL,
    store text,
    server text,
    cancelled timestamptz,
    error text,
    submitted timestamptz NOT NULL DEFAULT now(),
    ended timestamptz,
    result jsonb
  );
  CREATE UNIQUE INDEX one_open_run ON mediabatch.run (account, campaign) WHERE state = 'open';
  CREATE TABLE mediabatch.part (
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    no int NOT NULL,
    orders bytea NOT NULL,
    count int NOT NULL,
    purchases text[] NOT NULL,
    PRIMARY KEY (run, no)
  );
  CREATE TABLE mediabatch.line (
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    epoch bigint NOT NULL,
    no bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (run, epoch, no)
  );
  CREATE INDEX line_in_order ON mediabatch.line (run, seq);
  CREATE TABLE mediabatch.ended (
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    name text NOT NULL,
    epoch bigint NOT NULL,
    stop text NOT NULL,
    PRIMARY KEY (run, name)
  );
  CREATE TABLE mediabatch.event (
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    epoch bigint NOT NULL,
    no bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (run, epoch, no)
  );
  CREATE INDEX event_in_order ON mediabatch.event (run, seq);
  CREATE TABLE mediabatch.body (
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    key text NOT NULL,
    epoch bigint NOT NULL,
    sealed bytea NOT NULL,
    PRIMARY KEY (run, key)
  );
  CREATE TABLE mediabatch.file (
    id text PRIMARY KEY,
    run text NOT NULL REFERENCES mediabatch.run ON DELETE CASCADE,
    state text NOT NULL CHECK (state IN ('wanted', 'saved', 'failed')),
    task bytea,
    result jsonb,
    worker text,
    tries int NOT NULL DEFAULT 0
  );
  CREATE INDEX file_of_run ON mediabatch.file (run);
  CREATE TABLE mediabatch.worker (
    id text PRIMARY KEY,
    account text NOT NULL,
    host text NOT NULL,
    pid int NOT NULL,
    protocol int NOT NULL,
    version text NOT NULL,
    store text,
    files int NOT NULL,
    beat timestamptz NOT NULL DEFAULT now(),
    doing jsonb
  );
  CREATE TABLE mediabatch.spent (
    account text NOT NULL REFERENCES mediabatch.account,
    month text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    epoch bigint NOT NULL,
    no bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (account, month, epoch, no)
  );
  CREATE INDEX spent_in_order ON mediabatch.spent (account, month, seq);
  `,
  'ALTER TABLE mediabatch.run ADD COLUMN paused timestamptz',
] as const;

const migrationLock = 7_268_911_430_215;

/** Creates or migrates the tables. Returns both schema versions. Throws MB3703 for tables of a newer mediabatch. */
export function migrate(database: Database): Promise<{ before: number; now: number }> {
  return database.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    const known = await versionOf(sql);
    const now = migrations.length;
    if (known > now) throw newer(known);
    if (known === now) return { before: known, now };
    if (known === 0) {
      await sql.query('CREATE SCHEMA IF NOT EXISTS mediabatch');
      await sql.query('CREATE TABLE mediabatch.meta (version int NOT NULL)');
      await sql.query('INSERT INTO mediabatch.meta VALUES (0)');
    }
    for (const migration of migrations.slice(known)) await sql.query(migration);
    await sql.query('UPDATE mediabatch.meta SET version = $1', [now]);
    return { before: known, now };
  });
}

/** Never migrates. Throws MB3703 if the schema version of the tables differs from that of this mediabatch. */
export async function hasTables(sql: Sql): Promise<boolean> {
  const known = await versionOf(sql);
  if (known > migrations.length) throw newer(known);
  if (known === 0) return false;
  if (known < migrations.length) throw older(known);
  return true;
}

export async function grant(database: Database, role: string): Promise<void> {
  const [row] = await database.query<{ role: string }>('SELECT quote_ident($1) AS role', [role]);
  const schemas = 'SCHEMA mediabatch, mediabatch_queue';
  await database.query(`GRANT USAGE ON ${schemas} TO ${row?.role}`);
  await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN ${schemas} TO ${row?.role}`);
  await database.query(`GRANT SELECT ON ALL SEQUENCES IN ${schemas} TO ${row?.role}`);
}

async function versionOf(sql: Sql): Promise<number> {
  // The query reads `pg_tables`, because PostgreSQL may resolve a table name from a cache that is older than the lock.
  const found = await sql.query("SELECT FROM pg_tables WHERE schemaname = 'mediabatch' AND tablename = 'meta'");
  if (found.length === 0) return 0;
  const [meta] = await sql.query<{ version: number }>('SELECT version FROM mediabatch.meta');
  return meta?.version ?? 0;
}

function newer(version: number): CampaignError {
  return new CampaignError({
    code: 'MB3703',
    message: `a newer mediabatch made the tables of this engine (version ${version}; this mediabatch supports version ${migrations.length})`,
    hint: 'update mediabatch on this machine; nothing was changed',
  });
}

function older(version: number): CampaignError {
  return new CampaignError({
    code: 'MB3703',
    message: `an older mediabatch made the tables of this engine (version ${version}; this mediabatch needs version ${migrations.length})`,
    hint: [
      'install the mediabatch version of the workers. Nothing was changed',
      way('to upgrade the tables, once no older worker runs', call('engine migrate')),
    ],
  });
}
