import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readWorkbook } from '../../src/disk/workbook/read-workbook.ts';
import { command, expectExit, temporaryFolder } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { runInProcess } from './in-process.ts';

describe('outputs', () => {
  const manifest = `version: 1
name: shop
rights: { licence: web, until: 2027-12-31 }
tasks:
  pic:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "16:9"] }
    rights: { licence: print, exclusive: true }
    with: { prompt: "{{row.name}}, {{matrix.ratio}}", aspectRatio: "{{matrix.ratio}}", resolution: 1k }
  draft: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: a draft, resolution: 1k } }
  final: { kind: image, with: { prompt: the final, resolution: 1k, referenceImages: ["{{tasks.draft.url}}"] } }
`;
  const rows = 'sku,name,state,price\na,Käthe’s =lamp,new,-5\nb,"=HYPERLINK(""x"")",old,7\n';

  interface Listed {
    address: string;
    path: string;
    sha256: string;
    fileState: string;
    credits: number;
    [field: string]: unknown;
  }

  let bought = '';
  beforeAll(async () => {
    const { path, remove } = temporaryFolder();
    bought = path;
    writeFileSync(join(path, 'campaign.yaml'), manifest);
    writeFileSync(join(path, 'rows.csv'), rows);
    const apply = ['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
    expect((await command(apply, { cwd: path })).code).toBe(5);
    await command(['pick', 'draft/2', '--note', 'calm light', '--by', 'Ada', '--sandbox'], { cwd: path });
    await expectExit(0, command(apply, { cwd: path }));
    return remove;
  });

  /** A copy of the campaign as it was bought. */
  function campaign() {
    const folder = makeFolder();
    cpSync(bought, folder, { recursive: true });
    const run = (...words: string[]) => runInProcess(['outputs', 'campaign.yaml', '--sandbox', ...words], {}, folder);
    const list = async (...words: string[]) => {
      const { code, out, err } = await run('--format', 'json', ...words);
      expect(code, err).toBe(0);
      return JSON.parse(out).files as Listed[];
    };
    return { folder, run, list };
  }

  test('lists each file once, with its row, digest, charge, prompt and sources', async () => {
    const { folder, list } = campaign();
    const files = await list();
    expect(files.map(({ address }) => address)).toEqual([
      ...['a,1:1', 'a,16:9', 'b,1:1', 'b,16:9'].map((key) => `pic@${key}`),
      ...['draft/1', 'draft/2', 'final'],
    ]);
    for (const { path, sha256, fileState } of files) {
      expect(fileState).toBe('intact');
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
      ).toBe(sha256);
    }
    const [first] = files;
    expect(first).toMatchObject({
      row: { sku: 'a', name: 'Käthe’s =lamp', state: 'new', price: '-5' },
      matrix: { ratio: '1:1' },
      key: 'a',
      prompt: 'Käthe’s =lamp, 1:1',
      rights: { licence: 'print', until: '2027-12-31', exclusive: true },
      request: { resolution: '1k' },
      width: expect.any(Number),
      height: expect.any(Number),
    });
    expect(files.at(-2)).toMatchObject({ verdict: { is: 'picked', note: 'calm light', by: 'Ada' } });
    expect(files.at(-1)).toMatchObject({ madeFrom: ['draft/2'], rights: { licence: 'web' } });
  });

  test('prints a table without --json, and reports missing files', async () => {
    const { folder, run } = campaign();
    rmSync(join(folder, 'campaign.sandbox/output/final.png'));
    const { out, err } = await run('-s', 'final', '-s', 'draft');
    expect(out).toMatch(/draft\/2 .*×.* picked +calm light/);
    expect(out).toMatch(/final .* file missing$/m);
    expect(err).toMatch(/3 files, 1 missing or changed on this machine/);
    expect(err).toMatch(/to download missing files for free: .*apply campaign\.yaml.* --sandbox/);
  });

  describe('outputs as CSV', () => {
    test('has the columns of the data first, and calculates nothing', async () => {
      const { run } = campaign();
      const { out } = await run('--format', 'csv');
      const lines = out.split('\r\n');
      expect(lines[0]).toMatch(
        /^sku,name,row\.state,price,ratio,address,task,kind,key,.*,tags,rights\.licence,rights\.until,rights\.exclusive$/,
      );
      expect(lines[1]).toMatch(/^a,Käthe’s =lamp,new,-5,1:1,"pic@a,1:1",pic,image,a,/);
      expect(lines[3]).toMatch(/^b,"'=HYPERLINK\(""x""\)",old,7,1:1,/);
      expect(lines).toHaveLength(9);
    });

    test('in a file begins with a byte order mark, and has paths relative to the file', async () => {
      const { folder, run } = campaign();
      mkdirSync(join(folder, 'lists'));
      expect(await run('--out', 'lists/outputs.csv')).toMatchObject({ code: 0, out: '' });
      const text = readFileSync(join(folder, 'lists/outputs.csv'), 'utf8');
      expect(text.startsWith('\ufeffsku,')).toBe(true);
      expect(text).toContain(',../campaign.sandbox/');
      expect(await run('--out', 'lists/outputs.csv')).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, 'lists/outputs.csv'), 'utf8')).toBe(text);
    });

    test('escapes control sequences and CI commands on a stream', async () => {
      const { folder, run } = campaign();
      writeFileSync(join(folder, 'rows.csv'), rows.replace('new', '::error::\u001b[2J'));
      expect((await run('--format', 'csv')).out).toContain('\\x3a:error::\\x1b[2J');
      await run('--out', 'o.csv');
      expect(readFileSync(join(folder, 'o.csv'), 'utf8')).toContain('::error::\u001b[2J');
    });
  });

  test('outputs --out overwrites only a list that it wrote', async () => {
    const { folder, run } = campaign();
    const table = readFileSync(join(folder, 'rows.csv'), 'utf8');
    for (const [name, about] of [
      ['rows.csv', /already exists/],
      ['campaign.sandbox.lock.jsonl', /is the lock/],
      ['list.txt', /has an unknown extension/],
      ['nowhere/list.csv', /an existing folder/],
    ] as const) {
      const { code, err } = await run('--out', name);
      expect(code, name).not.toBe(0);
      expect(err).toMatch(about);
    }
    expect(readFileSync(join(folder, 'rows.csv'), 'utf8')).toBe(table);
    expect((await run('--out', 'list.csv', '--format', 'json')).err).toMatch(/the extension sets the format/);
  });

  test('a post is a row, joined columns are listed, and a spreadsheet keeps every text but plain numbers', async () => {
    const folder = makeFolder();
    const run = (...words: string[]) => runInProcess(words, {}, folder);
    const accounts = JSON.parse((await run('list', 'accounts', '--sandbox', '--json')).out).accounts as {
      id: string;
    }[];
    writeFileSync(join(folder, 'rows.csv'), 'sku,note,price,long\n007,=1+1,19.5,123456789.25\n');
    writeFileSync(join(folder, 'copy.csv'), 'sku,title\n007,"A; B"\n');
    writeFileSync(
      join(folder, 'campaign.yaml'),
      `version: 1
name: joined
tables: { copy: { file: copy.csv, on: [sku] } }
tasks:
  pic: { kind: image, foreach: rows.csv, key: "{{row.sku}}", with: { prompt: "{{copy.title}}", resolution: 1k } }
  say:
    kind: post
    foreach: rows.csv
    key: "{{row.sku}}"
    with: { caption: "{{copy.title}}", media: ["{{tasks.pic.url}}"], accountIds: [${accounts[0]?.id}] }
`,
    );
    await expectExit(
      0,
      run(...['apply', '--sandbox', '--yes', '--publish', '--sandbox-speed', '10000'], '--poll-interval', '10'),
    );
    const outputs = (...words: string[]) => run('outputs', '--sandbox', ...words);
    const { files, posts } = JSON.parse((await outputs('--json')).out);
    const tables = { copy: { sku: '007', title: 'A; B' } };
    expect(files).toMatchObject([{ address: 'pic@007', tables }]);
    expect(posts).toMatchObject([{ address: 'say@007', tables, state: 'done', credits: 0, madeFrom: ['pic@007'] }]);
    expect((await outputs()).err).toContain('1 file, 1 post');

    await outputs('--format', 'csv-semicolon', '--out', 'list.csv');
    const [head, ...lines] = readFileSync(join(folder, 'list.csv'), 'utf8').split('\r\n');
    expect(head).toMatch(/^\ufeffsku;row\.note;price;long;copy\.sku;copy\.title;address;/);
    expect(lines.slice(0, 2).map((line) => line.slice(0, 45))).toEqual([
      `007;'=1+1;19,5;123456789.25;007;"A; B";pic@00`,
      `007;'=1+1;19,5;123456789.25;007;"A; B";say@00`,
    ]);

    expect((await outputs('--format', 'xlsx')).code).toBe(64);
    await outputs('--out', 'list.xlsx');
    expect((await outputs('--out', 'list.xlsx')).code).toBe(0);
    const read = await readWorkbook(readFileSync(join(folder, 'list.xlsx')), [undefined]);
    const [, file, post] = 'sheets' in read ? (read.sheets[0]?.cells ?? []) : [];
    expect(file?.slice(0, 7)).toEqual(['007', '=1+1', '19.5', '123456789.25', '007', 'A; B', 'pic@007']);
    expect(post?.slice(0, 7)).toEqual(['007', '=1+1', '19.5', '123456789.25', '007', 'A; B', 'say@007']);
    writeFileSync(join(folder, 'other.xlsx'), 'PK\u0003\u0004');
    expect((await outputs('--out', 'other.xlsx')).code).not.toBe(0);
  });
});

const manifest = (index: string) => `version: 1
name: listed
outputs: { index: ${index} }
tasks:
  pic: { kind: image, foreach: [a, b], gate: approve, with: { prompt: "{{row}}", resolution: 1k } }
`;

function campaign(index = 'lists/all.csv') {
  const folder = makeFolder();
  writeFileSync(join(folder, 'campaign.yaml'), manifest(index));
  const apply = (...words: string[]) =>
    command(['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10', ...words], {
      cwd: folder,
    });
  const file = join(folder, 'campaign.sandbox', index);
  return { folder, apply, file, text: () => readFileSync(file, 'utf8') };
}

describe('outputs: { index }', () => {
  test('is written at the end of every run, also of one with nothing else to do', async () => {
    const { folder, apply, file, text } = campaign();
    await apply('-s', 'pic@a');
    expect(text()).toMatch(/^\ufeffrow,address,.*\r\na,pic@a,.*,\.\.\/output\/pic-a\.png,intact,.*\r\n$/);
    await apply();
    const both = text();
    expect(both.trimEnd().split('\r\n')).toHaveLength(3);
    rmSync(file);
    expect((await apply()).err).toContain('Nothing to do');
    expect(text()).toBe(both);
    await command(['pick', '--sandbox', 'pic@a', '--note', 'calm'], { cwd: folder });
    await apply();
    expect(text()).toMatch(/pic@a.*,picked,.*calm/);
    expect(existsSync(join(folder, 'lists')), 'the sandbox has its own list').toBe(false);
  });

  test('overwrites no other file and follows no link; the run reports it, and ends as without an index', async () => {
    const { folder, apply, file, text } = campaign('all.csv');
    expect((await apply()).code).toBe(0);
    writeFileSync(file, 'sku,name\n');
    const other = await apply();
    expect(other.code).toBe(0);
    expect(other.err).toMatch(/the index of outputs was not written: outputs\.index: all\.csv already exists/);
    expect(text()).toBe('sku,name\n');
    rmSync(file);
    writeFileSync(join(folder, 'elsewhere.csv'), '');
    symlinkSync(join(folder, 'elsewhere.csv'), file);
    expect((await apply()).err).toContain('the index of outputs was not written');
    expect(readFileSync(join(folder, 'elsewhere.csv'), 'utf8')).toBe('');
  });

  test.each([
    '../all.csv',
    '/all.csv',
    'a/../all.csv',
    'all.txt',
    'campaign.lock.jsonl',
    'c:all.csv',
    '"{{vars.x}}.csv"',
  ])('takes no path like %s', async (index) => {
    const { folder } = campaign(index);
    const { code, err } = await runInProcess(['validate', 'campaign.yaml'], {}, folder);
    expect([code, err]).toEqual([65, expect.stringMatching(/campaign\.yaml:3:/)]);
  });
});
