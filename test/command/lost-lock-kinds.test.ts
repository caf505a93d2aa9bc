import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/index.ts';
import { type AfterLoss, type LossRow, lossRows } from '../../src/report/manual/references.ts';
import { type CommandResult, command, temporaryFolder } from '../rig/command.ts';
import { terse } from '../rig/other-service/manners.ts';
import { account, OtherService } from '../rig/other-service/other-service.ts';
import { firstAccount, type ServiceHere, serviceHere } from '../rig/service-here.ts';

/** What the steps of a kind ask for: alone, and with what another step made. */
const requests: { [kind: string]: { alone?: string; linked?: string } } = {
  image: { alone: 'prompt: a lamp, resolution: 1k', linked: 'prompt: a pair, referenceImages: ["{{tasks.base.url}}"]' },
  music: { alone: 'prompt: a tune, model: song-7.5', linked: 'prompt: "as in {{tasks.base.url}}", model: song-7.5' },
  video: { alone: 'prompt: a film' },
  voiceover: { alone: 'text: hello, voice_id: Aria' },
  clipping: { alone: 'videoUrl: "https://example.com/a.mp4"', linked: 'videoUrl: "{{tasks.video.url}}"' },
  thumbnail: { alone: 'title: a film' },
  influencer: { alone: 'prompt: a face' },
  upload: { alone: 'file: logo.png' },
  post: { alone: 'accountIds: ["ACCOUNT"], caption: hello' },
};

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55', 'hex');

const nameOf = (kind: string, row: LossRow) => (row.usesOutputs === true ? `${kind}-linked` : kind);

const cases = lossRows().flatMap((row) => row.kinds.map((kind) => ({ kind, row, name: nameOf(kind, row) })));

function manifest(accountId: string): string {
  const lines = cases.map(({ kind, row, name }) => {
    const { alone = '', linked = '' } = requests[kind] ?? {};
    const request = row.usesOutputs === true ? linked : alone;
    return `  ${name}: { kind: ${kind}, with: { ${request.replace('ACCOUNT', accountId)} } }`;
  });
  return `version: 1\nname: lost\ntasks:\n  base: { kind: image, with: { prompt: the base, resolution: 1k } }\n${lines.join('\n')}\n`;
}

/** A service from outside: what it booked, by the step that asked. */
interface Books {
  env: Record<string, string>;
  accountId: string;
  /** Jobs and posts, in their order. */
  booked(): { kind: string; text: string }[];
  close(): Promise<void>;
}

async function signing(): Promise<Books> {
  const service = await OtherService.open({ ...terse, thumbnail: { create: 'job', status: 'job', remove: 'job' } });
  return {
    env: service.env,
    accountId: account.id,
    booked: () => service.books.jobs.map(({ kind, text }) => ({ kind, text })),
    close: () => service.close(),
  };
}

async function sandbox(): Promise<Books> {
  const service: ServiceHere = await serviceHere({});
  return {
    env: service.env,
    accountId: await firstAccount(service),
    booked: () => service.ledger().map(({ kind, body }) => ({ kind, text: JSON.stringify(body) })),
    close: () => service.close(),
  };
}

/** How often the service booked what this step asks for. */
function timesOf(books: Books, { kind, row }: { kind: string; row: LossRow }): number {
  const text = (one: { text: string }) => /a pair|as in|127\.0\.0\.1/.test(one.text);
  const base = (one: { text: string }) => one.text.includes('the base');
  return books.booked().filter((one) => one.kind === kind && !base(one) && text(one) === (row.usesOutputs === true))
    .length;
}

const expected: { [outcome in AfterLoss]: { isSigning: number; keepsLinks: number } } = {
  found: { isSigning: 1, keepsLinks: 1 },
  held: { isSigning: 1, keepsLinks: 1 },
  shown: { isSigning: 1, keepsLinks: 1 },
  listed: { isSigning: 1, keepsLinks: 1 },
  bought: { isSigning: 2, keepsLinks: 2 },
  free: { isSigning: 0, keepsLinks: 0 },
  asked: { isSigning: 1, keepsLinks: 1 },
};

test('the table of a lost lock has a row for each kind', () => {
  expect([...new Set(cases.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(kinds).toSorted());
});

describe.each([
  ['signs its links anew', signing, 'isSigning'],
  ['gives the same links again', sandbox, 'keepsLinks'],
] as const)('a lock that is lost with everything beside it, at a service that %s', (_name, open, how) => {
  const folder = temporaryFolder();
  let books: Books;
  let shown: CommandResult;
  let again: CommandResult;
  let later: CommandResult;

  beforeAll(async () => {
    books = await open();
    writeFileSync(join(folder.path, 'campaign.yaml'), manifest(books.accountId));
    writeFileSync(join(folder.path, 'logo.png'), png);
    const env = { ...books.env };
    const run = (...args: string[]) => command(args, { cwd: folder.path, env });
    const apply = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];
    const first = await run(...apply, '--publish');
    expect(first.code, first.err).toBe(0);
    for (const name of ['campaign.lock.jsonl', '.mediabatch', 'output']) {
      rmSync(join(folder.path, name), { recursive: true, force: true });
    }
    // What this person has spent here goes with the machine.
    env.XDG_STATE_HOME = join(folder.path, 'state');
    shown = await run('adopt', 'campaign.yaml', '--yes');
    expect(shown.code, shown.err).toBe(0);
    const ids = /--job ([\w-]+)/.exec(shown.err)?.slice(1) ?? [];
    const chosen = await run('adopt', 'campaign.yaml', '--yes', ...ids.flatMap((id) => ['--job', id]));
    expect(chosen.code, chosen.err).toBe(0);
    again = await run(...apply);
    later = await run(...apply);
    return async () => {
      await books.close();
      folder.remove();
    };
  }, 120_000);

  test.each(cases)('$name: $row.outcome', ({ kind, row }) => {
    expect(timesOf(books, { kind, row }), again.err).toBe(expected[row.outcome][how]);
  });

  test('ends with what a person has to decide, and stays so', () => {
    const code = how === 'isSigning' ? 6 : 5;
    expect([again.code, later.code], again.err + later.err).toEqual([code, code]);
    expect(again.err.includes('bought before and not on record')).toBe(how === 'isSigning');
  });
});
