import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bin, temporaryFolder } from '../rig/command.ts';
import type { Booking } from '../rig/oracle.ts';
import { startProgram } from '../rig/program.ts';
import { pageOf } from '../rig/review/page-of-run.ts';
import { serviceHere } from '../rig/service-here.ts';
import { hasTerminals, runOnTerminal } from '../rig/terminal.ts';

vi.setConfig({ testTimeout: 180_000 });

const brief = 'sku,name\nlamp,Aurora Lamp\nvase,Blue Vase\n';
/** What a program makes of the campaign that `init --from-csv` wrote: drafts, finals of what is picked, and a post. */
const tasks = `tasks:
  draft:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    takes: 2
    gate: { choose: 1 }
    with: { prompt: "{{row.name}} on a plain background", aspectRatio: "1:1" }
    save: drafts/{{key}}
  final:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with: { prompt: "{{row.name}}, finished", aspectRatio: "1:1", referenceImages: ["{{tasks.draft.url}}"] }
    save: final/{{key}}
  share:
    kind: post
    with:
      accountIds: [acc_a26a6b25c78b1c8d]
      caption: New in spring
      media: "{{tasks.final.urls}}"
      scheduledAt: "2030-05-01T09:00:00Z"
`;

interface Next {
  command: string;
  credits: number | null;
  needs: 'person' | null;
}

interface Answer {
  code: number | null;
  said: string;
  next: Next[];
  totals: unknown;
}

/** As somebody pastes it into a shell, where `mediabatch` is the command that was built. */
const shell = (text: string) => ['bash', '-c', `mediabatch() { exec '${process.execPath}' '${bin}' "$@"; }\n${text}`];

/** A program at the keys, and the person beside it, in one folder with one service. */
async function atTheDesk() {
  const home = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    home.remove();
  });
  const shop = join(home.path, 'shop');
  const folder = () => (existsSync(shop) ? shop : home.path);
  const ofPerson = {
    ...service.env,
    PATH: process.env.PATH ?? '',
    XDG_STATE_HOME: join(home.path, 'state'),
    NO_COLOR: '1',
  };
  const start = (text: string, env: Record<string, string>) => startProgram(shell(text), { cwd: folder(), env });
  return {
    path: (name: string) => join(shop, name),
    write: (name: string, text: string) => writeFileSync(join(folder(), name), text),
    bought: () => (service.ledger() as Booking[]).map(({ kind }) => kind).sort(),
    /** The program, without a terminal; it asks for documents where there are any. */
    async program(text: string): Promise<Answer> {
      const { code, out, err } = await start(text, { ...ofPerson, AI_AGENT: 'x' }).ended;
      const document = (out.startsWith('{') ? JSON.parse(out) : {}) as Partial<Answer>;
      return { next: [], totals: undefined, ...document, code, said: `${out}\n${err}` };
    },
    /** The person, on a terminal of their own, who says yes. */
    async agrees(text: string): Promise<void> {
      const deeds = [{ after: '[y/N] ', keys: 'y\r' }];
      const ran = await runOnTerminal(shell(text), { cwd: shop, env: ofPerson, columns: 200, deeds });
      expect(ran.code, stripVTControlCharacters(ran.text)).toBe(0);
    },
    /** The person, on the page, who picks the first take of each draft. */
    async picks(text: string): Promise<void> {
      const { child, err, ended } = start(`${text} --no-open`, ofPerson);
      const page = await pageOf({ err, ended });
      const drafts = (await page.data()).assets.filter(({ address }) => /^draft@\w+\/1$/.test(address));
      const verdicts = Object.fromEntries(drafts.map(({ address }) => [address, 'picked' as const]));
      expect(await page.judge(verdicts), err()).toMatchObject({ is: 'recorded' });
      child.kill('SIGINT');
      await ended;
    },
  };
}

test.runIf(hasTerminals)(
  'an agent with only `help agents` goes from a brief to posts: a user approves, and nothing else is bought',
  async () => {
    const { program, agrees, picks, bought, write, path } = await atTheDesk();
    const page = await program('mediabatch help agents');
    expect(page.said).toContain('approve campaign.plan.json');
    write('products.csv', brief);
    expect((await program('mediabatch init shop --from-csv products.csv --agents')).code).toBe(0);
    expect(readFileSync(path('AGENTS.md'), 'utf8')).toContain('## Exit codes');
    const made = readFileSync(path('campaign.yaml'), 'utf8');
    write('campaign.yaml', made.slice(0, made.indexOf('tasks:')) + tasks);
    // As the page lists them.
    const told = [...page.said.matchAll(/^ *(mediabatch \S+ .*?) +#/gm)].map(([, text = '']) => text);
    const ends: [number | null, string][] = [];
    for (const text of told) ends.push([(await program(text)).code, text]);
    expect(ends).toEqual([
      [0, 'mediabatch validate --json'],
      [0, 'mediabatch plan --refresh --json --out campaign.plan.json'],
      [5, 'mediabatch apply --sandbox --yes'],
      [0, 'mediabatch status --json'],
      [0, 'mediabatch outputs --json'],
    ]);
    // Sandbox purchases do not count.
    expect(bought()).toEqual([]);

    const after: string[][] = [];
    // From here on each step is what was printed as leading on.
    let at = await program('mediabatch apply --json');
    expect([at.code, bought()], at.said).toEqual([5, []]);
    const walked: string[] = [];
    for (let turns = 0; turns < 4 && at.next.length > 0; turns += 1) {
      for (const { command, needs } of at.next) {
        walked.push(command.replace(/^mediabatch (\S+).*/, needs === 'person' ? 'person: $1' : '$1'));
        if (needs === null) at = await program(command.includes('--json') ? command : `${command} --json`);
        else if (command.startsWith('mediabatch review')) await picks(command);
        else await agrees(command);
        if (walked.at(-1) === 'apply') after.push(bought());
      }
    }
    const agreement = ['plan', 'person: approve', 'apply'];
    expect(walked, at.said).toEqual([...agreement, 'person: review', 'plan', ...agreement]);
    expect(after).toEqual([Array(4).fill('image'), [...Array(6).fill('image'), 'post']]);
    expect([at.code, at.next], at.said).toEqual([0, []]);
  },
);
