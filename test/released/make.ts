/**
 * Makes `test/released/VERSION/`: a campaign of every kind, and what this build writes for it. It is made once for each release,
 * from the commit that is tagged; what lies there is never changed afterwards. `npx tsx test/released/make.ts`, after a build.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownVersion } from '../../src/campaign/own-version.ts';
import { readLock } from '../../src/lock/read.ts';
import { writeLock } from '../../src/lock/write.ts';
import { bin, root, temporaryFolder } from '../rig/command.ts';
import { startPostgres } from '../rig/postgres-server.ts';
import { firstAccount, serviceHere } from '../rig/service-here.ts';

const version = ownVersion();
const target = join(root, 'test/released', version);
if (existsSync(target)) throw new Error(`${target} exists: what a release has written is not made again`);

const { path: home, remove } = temporaryFolder();
const service = await serviceHere();
const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state') };

/** Runs the built command in a folder below `home`. */
async function run(folder: string, args: string[], { at = {}, exits = [0] as number[] } = {}): Promise<string> {
  const options = { cwd: join(home, folder), env: { ...env, ...at }, maxBuffer: 1 << 26 };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args], options);
    return stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    if (exits.includes(code)) return stdout;
    throw new Error(`mediabatch ${args.join(' ')} ended with ${code}\n${stderr}`);
  }
}

const apply = ['apply', '--yes', '--publish', '--poll-interval', '10', '--events', 'events.jsonl'];

/** Every kind, and every way in which steps come about: rows, matrix, takes, tables, parts, gates and an included file. */
function campaign(account: string): Record<string, string> {
  return {
    'campaign.yaml': `version: 1
name: released
include: [brand.yaml]
budget: { credits: 500 }
tables:
  copy: { file: copy.csv, on: [sku, locale] }
rights: { licence: web and print }
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  draft:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    takes: 2
    gate: { choose: 1 }
    with: { prompt: "{{row.name}}, {{vars.brand}}", resolution: 1k, referenceImages: ["{{tasks.logo.url}}"] }
    save: drafts/{{row.sku}}
  final:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    matrix: { locale: [en, de] }
    with: { prompt: "{{copy.headline}}", aspectRatio: "16:9", referenceImages: ["{{tasks.draft.url}}"] }
    save: finals/{{row.sku}}-{{matrix.locale}}
  host: { kind: influencer, with: { prompt: "A presenter with a lamp" } }
  bed: { kind: music, with: { model: song-7.5, prompt: calm, output_format: wav } }
  voice: { kind: voiceover, with: { text: "A lamp like no other.", voice_id: Alice, output_format: wav } }
  film: { kind: video, with: { prompt: "A slow push in", image: "{{tasks.final.url}}", duration: 2 }, from: { final: { key: lamp, locale: en } } }
  cuts: { kind: clipping, with: { videoUrl: "{{tasks.film.url}}", maxClips: 2 } }
  cover:
    kind: thumbnail
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { title: "Part {{row.number}}", image: "{{tasks.film.thumbnailUrl}}" }
  share:
    kind: post
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { accountIds: [${account}], caption: "Part {{row.number}}", media: ["{{row.url}}", "{{tasks.cover.url}}"] }
`,
    'brand.yaml': 'vars: { brand: Northlight }\ndefaults: { image: { model: alpha-2 } }\n',
    'products.csv': 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n',
    'copy.csv': 'sku,locale,headline\nlamp,en,Light\nlamp,de,Licht\nvase,en,Still\nvase,de,Ruhe\n',
  };
}

function copyFolder(from: string, to: string): void {
  cpSync(join(home, from), join(home, to), { recursive: true, preserveTimestamps: true });
}

const read = (folder: string, name: string) => readFileSync(join(home, folder, name), 'utf8');

/** Buys all of it, and keeps the lock, the saved plan, the events and the documents. */
async function makeBought(): Promise<void> {
  const files = campaign(await firstAccount(service));
  mkdirSync(join(home, 'bought'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'bought', name), text);
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55', 'hex');
  writeFileSync(join(home, 'bought', 'logo.png'), png);
  mkdirSync(target, { recursive: true });
  cpSync(join(home, 'bought'), target, { recursive: true });
  await run('bought', ['plan', '--out', 'saved.plan.json']);
  await run('bought', [...apply, 'campaign.yaml'], { at: service.env, exits: [5] });
  copyFolder('bought', 'drafts');
  await run('bought', ['pick', 'draft@lamp/2', 'draft@vase/1', '--by', 'Ada', '--note', 'calm light']);
  await run('bought', ['pin', 'host']);
  await run('bought', [...apply, 'campaign.yaml'], { at: service.env });
  for (const name of ['saved.plan.json', 'events.jsonl']) {
    writeFileSync(join(target, name), read('bought', name));
  }
  await keepDocuments();
}

/** Documents of a clone that has the lock and none of the files, as sets are read. */
async function keepDocuments(): Promise<void> {
  cpSync(target, join(home, 'clone'), { recursive: true });
  writeFileSync(join(home, 'clone', 'campaign.lock.jsonl'), read('bought', 'campaign.lock.jsonl'));
  for (const name of ['plan', 'status', 'outputs', 'cost']) {
    writeFileSync(join(target, `${name}.json`), await run('clone', [name, '--json']));
  }
}

/** Locks as they are found after accidents, each beside what this build reads in it. */
async function makeLocks(): Promise<void> {
  const whole = read('bought', 'campaign.lock.jsonl');
  keepLock('whole', whole);
  keepLock('torn', `${whole}{"kind":"image","address":"cover","finger`);
  keepLock('every-field', readFileSync(join(root, 'test/rooms/lock/golden-v2.lock.jsonl'), 'utf8'));
  await run('drafts', ['pick', 'draft@lamp/1', 'draft@vase/1', '--by', 'Bo']);
  await run('drafts', [...apply, '--select', 'final', 'campaign.yaml'], { at: service.env });
  keepLock('merged', `<<<<<<< ours\n${whole}=======\n${read('drafts', 'campaign.lock.jsonl')}>>>>>>> theirs\n`);
  service.addFaults([{ on: 'create', match: 'slow push in', do: { type: 'reset', booked: true } }]);
  await run('drafts', [...apply, '--redo', 'film', 'campaign.yaml'], { at: service.env, exits: [6] });
  keepLock('open-send', read('drafts', 'campaign.lock.jsonl'));
}

/** What workers keep of a run in a store: its files, and the mark by which a database that was put back is found. */
async function makeStore(): Promise<void> {
  mkdirSync(join(home, 'engine'));
  mkdirSync(join(home, 'store'));
  const text =
    'version: 1\nname: stored\ntasks: { voice: { kind: voiceover, with: { text: A lamp., voice_id: Alice } } }\n';
  writeFileSync(join(home, 'engine', 'campaign.yaml'), text);
  const server = await startPostgres(join(home, 'postgres'));
  const at = { ...service.env, MEDIABATCH_ENGINE: server.url };
  const worker = spawn(process.execPath, [bin, 'worker', '--store', '../store'], {
    cwd: join(home, 'engine'),
    env: { ...env, ...at },
    stdio: 'ignore',
  });
  try {
    await run('engine', ['apply', '--yes', '--store', '../store', 'campaign.yaml'], { at });
  } finally {
    worker.kill('SIGTERM');
    await once(worker, 'exit');
    await server.stop();
  }
  cpSync(join(home, 'store'), join(target, 'store'), { recursive: true });
  keepLock('stored', read('engine', 'campaign.lock.jsonl'));
}

function keepLock(name: string, text: string): void {
  writeFileSync(join(target, `${name}.lock.jsonl`), text);
  const { lock } = readLock(name, Buffer.from(text));
  writeFileSync(join(target, `${name}.read.jsonl`), writeLock(lock));
}

try {
  await makeBought();
  await makeLocks();
  await makeStore();
} finally {
  await service.close();
  remove();
}
