import { describe, expect, it, test } from 'vitest';
import type { Sheet, Workbook } from '../../../src/manifest/rows/rows.ts';
import { describeChanges, findChanges } from '../../../src/plan/compare/changes.ts';
import { type Facts, load, steps } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

const data = {
  'products.csv': 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n',
  'copy.csv': 'sku,locale,headline,sub\nlamp,en,Light,\nlamp,de,Licht,jetzt\nvase,en,Tide,\nvase,de,Flut,\n',
  'locales.csv': 'id,cta,skip\nen,Buy now,\nde,Jetzt kaufen,yes\n',
};

function campaign(tables: string[], ...task: string[]): string {
  const own = ['version: 1', 'name: test', 'tables:', ...tables.map((line) => `  ${line}`), 'tasks:', '  hero:'];
  return [...own, '    kind: image', ...task.map((line) => `    ${line}`), ''].join('\n');
}

const both = ['copy: { file: copy.csv, on: [sku, locale] }', 'locales: locales.csv'];
const rows = ['foreach: products.csv', 'key: "{{row.sku}}"'];

function prompts(text: string, facts: Facts = { data }): { [address: string]: unknown } {
  return Object.fromEntries(steps(text, facts).map(({ address, request }) => [address, request.prompt]));
}

describe('a table', () => {
  it('gives each step the row that belongs to its row and matrix cell', () => {
    const with_ = 'with: { prompt: "{{copy.headline}}: {{row.name}}" }';
    expect(prompts(campaign(both, ...rows, 'matrix: { locale: [en, de] }', with_))).toEqual({
      'hero@lamp,en': 'Light: Aurora Lamp',
      'hero@lamp,de': 'Licht: Aurora Lamp',
      'hero@vase,en': 'Tide: Tide Vase',
      'hero@vase,de': 'Flut: Tide Vase',
    });
  });

  it('gives the rows of a task', () => {
    const task = ['foreach: "{{tables.locales}}"', 'key: "{{row.id}}"', 'with: { prompt: "{{row.cta}}" }'];
    expect(prompts(campaign(both, ...task))).toEqual({ 'hero@en': 'Buy now', 'hero@de': 'Jetzt kaufen' });
  });

  it('gives an axis its column `id`, even if another has the name of the axis', () => {
    const text = campaign(
      both,
      'matrix: { locale: "{{tables.locales}}" }',
      'with: { prompt: "{{matrix.locale.cta}}" }',
    );
    const found = { ...data, 'locales.csv': 'locale,id,cta\nEnglish,en,Buy now\n' };
    expect(prompts(text, { data: found })).toEqual({ 'hero@en': 'Buy now' });
  });

  it('is joined on values that its map gives', () => {
    const tables = ['copy: { file: copy.csv, on: { sku: "{{slug row.name}}", locale: de } }'];
    const found = { 'copy.csv': 'sku,locale,headline\naurora-lamp,de,Licht\ntide-vase,de,Flut\ntide-vase,en,Tide\n' };
    const text = campaign(tables, ...rows, 'with: { prompt: "{{copy.headline}}" }');
    expect(prompts(text, { data: { ...data, ...found } })).toEqual({ 'hero@lamp': 'Licht', 'hero@vase': 'Flut' });
  });
});

it('values of an axis that are maps have an id, which is the value', () => {
  const task = ['matrix: { locale: [{ id: en, cta: Now }, { id: de, cta: Jetzt }], exclude: [{ locale: en }] }'];
  const text = campaign(
    both,
    ...task,
    'with: { prompt: "{{matrix.locale.cta}} {{matrix.locale}}{{#if (eq matrix.locale \'de\')}}!{{/if}}" }',
  );
  expect(steps(text, { data })).toMatchObject([{ address: 'hero@de', request: { prompt: 'Jetzt de!' } }]);
});

const book: Workbook = {
  names: ['Notes', 'Texts'],
  sheets: [
    {
      name: 'Texts',
      cells: [
        [],
        ['sku', 'locale', 'headline', ''],
        ['lamp', 'en', 'Light', ''],
        ['', '', ''],
        ['lamp', 'de', 'Licht'],
      ],
      faults: [],
      hiddenRows: [],
    },
  ],
};
const ofBook = ['copy: { file: copy.xlsx, sheet: Texts, on: [sku, locale] }'];

/** The sheet with other cells. */
function bookOf(cells: string[][], faults: Sheet['faults'] = []): Workbook {
  return { ...book, sheets: [{ name: 'Texts', cells, faults, hiddenRows: [] }] };
}

describe('a workbook', () => {
  const found = { 'products.csv': 'sku,name\nlamp,Aurora Lamp\n', 'copy.xlsx': { workbook: book } };
  const task = [...rows, 'matrix: { locale: [en, de] }', 'with: { prompt: "{{copy.headline}}" }'];

  it('is a table whose first row names the columns', () => {
    expect(prompts(campaign(ofBook, ...task), { data: found })).toEqual({
      'hero@lamp,en': 'Light',
      'hero@lamp,de': 'Licht',
    });
  });

  it('gives the rows of a task', () => {
    const own = [
      'foreach: { file: copy.xlsx, sheet: Texts }',
      'key: "{{row.locale}}"',
      'with: { prompt: "{{row.headline}}" }',
    ];
    const list = steps(campaign(both, ...own), { data: { ...data, ...found } });
    expect(list.map(({ address, row }) => [address, row])).toEqual([
      ['hero@en', 'row 3 of copy.xlsx, sheet Texts'],
      ['hero@de', 'row 5 of copy.xlsx, sheet Texts'],
    ]);
  });

  it('gives each of its sheets, to tables and to tasks', () => {
    const other = { name: 'Notes', cells: [['sku'], ['lamp']], faults: [], hiddenRows: [] };
    const own = ['foreach: { file: copy.xlsx, sheet: Notes }', ...task.slice(1)];
    const workbook = { ...book, sheets: [...book.sheets, other] };
    expect(prompts(campaign(ofBook, ...own), { data: { 'copy.xlsx': { workbook } } })).toEqual({
      'hero@lamp,en': 'Light',
      'hero@lamp,de': 'Licht',
    });
  });

  it('is named with sheet and row where it changed a request', () => {
    const was = steps(campaign(ofBook, ...task), { data: found }).at(-1);
    const cells = book.sheets[0]?.cells.map((row) => row.map((cell) => cell.replace('Licht', 'Helles Licht'))) ?? [];
    const { graph, trace } = load(campaign(ofBook, ...task), {
      data: { ...found, 'copy.xlsx': { workbook: bookOf(cells) } },
    });
    const now = graph?.steps.at(-1);
    if (was === undefined || now === undefined || trace === undefined) throw new Error('no step');
    const { changes } = findChanges(was.paidRequest, now, { causeOf: trace });
    expect(describeChanges(changes)).toBe('copy.xlsx, sheet Texts, row 5, headline: “Licht” → “Helles Licht”');
  });
});

describe('what changed in a request', () => {
  const text = campaign(
    both,
    ...rows,
    'matrix: { locale: "{{tables.locales}}" }',
    'with: { prompt: "{{copy.headline}} – {{matrix.locale.cta}}" }',
  );

  test.each([
    ['copy.csv', 'Licht', 'Helles Licht', 'data headline copy.csv:3'],
    ['locales.csv', 'Jetzt kaufen', 'Kaufen', 'data cta locales.csv:3'],
  ])('leads to %s', (file, from, to, expected) => {
    const found = { ...data, [file]: data[file as keyof typeof data].replace(from, to) };
    const was = steps(text, { data }).find(({ address }) => address === 'hero@lamp,de');
    const { graph, trace } = load(text, { data: found });
    const now = graph?.steps.find(({ address }) => address === 'hero@lamp,de');
    if (was === undefined || now === undefined || trace === undefined) throw new Error('no step');
    expect(now.fingerprint).not.toBe(was.fingerprint);
    const [change] = findChanges(was.paidRequest, now, { causeOf: trace }).changes;
    expect(`${change?.cause?.is} ${change?.cause?.name} ${change?.cause?.file}:${change?.cause?.line}`).toBe(expected);
  });
});

const joined = [...rows, 'matrix: { locale: [en, de] }', 'with: { prompt: "{{copy.headline}}" }'];

/** Four mistakes at the name of the table in the manifest. */
const missing = Array.from({ length: 4 }, () => 'MB1307 4:3');

testMistakes([
  {
    name: 'no row for a step: once, whatever uses it, at the table',
    text: campaign(both, ...joined, 'save: "{{copy.headline}}-{{copy.sub}}"'),
    data: { ...data, 'copy.csv': data['copy.csv'].replace('vase,de,Flut,\n', '') },
    found: ['MB1307 4:3'],
    says: ['table `copy` has no row for sku vase, locale de', 'add it to copy.csv'],
  },
  {
    name: 'no row for many steps',
    text: campaign(both, ...joined),
    data: { ...data, 'copy.csv': 'sku,locale,headline,image\nlamp,en,x,\n' },
    found: ['MB1307 4:3', 'MB1307 4:3', 'MB1307 4:3'],
    says: ['no row for sku lamp, locale de', 'no row for sku vase, locale en', 'no row for sku vase, locale de'],
  },
  {
    name: 'a row whose key is written otherwise',
    text: campaign(both, ...joined),
    data: { ...data, 'copy.csv': data['copy.csv'].replace('vase,de', 'Vase ,de') },
    found: ['MB1307 4:3'],
    says: ['copy.csv has a row for sku Vase , locale de: write both values alike'],
  },
  {
    name: 'two rows for one step',
    text: campaign(both, ...joined),
    data: { ...data, 'copy.csv': `${data['copy.csv']}lamp,de,Leuchte,\n` },
    found: ['MB1307 4:3'],
    says: ['two rows of table `copy` match sku lamp, locale de: row 2 of copy.csv and row 5 of copy.csv'],
  },
  {
    name: 'many rows for one step',
    text: campaign(both, ...joined),
    data: { ...data, 'copy.csv': `${data['copy.csv']}lamp,de,Leuchte,\nlamp,de,Licht,\n` },
    found: ['MB1307 4:3', 'MB1307 4:3'],
    says: ['row 2 of copy.csv and row 5 of copy.csv', 'row 2 of copy.csv and row 6 of copy.csv'],
  },
  {
    name: 'a row without a value to join on',
    text: campaign(['copy: { file: copy.json, on: [sku] }'], ...joined),
    data: { ...data, 'copy.json': '[{ "sku": ["lamp"], "headline": "x" }]' },
    found: ['MB1307 copy.json:1:2'],
    says: ['row 1 of copy.json has no text or number in `sku`'],
  },
  {
    name: 'a column to join on that the table does not have',
    text: campaign(['copy: { file: copy.csv, on: [SKU, locale] }'], ...joined),
    data,
    found: ['MB1203 4:32'],
    says: ['copy.csv has no column `SKU`, on which table `copy` is joined', 'did you mean `sku`?'],
  },
  {
    name: 'a table that is joined by nothing',
    text: campaign(['copy: copy.csv'], ...joined),
    data,
    found: ['MB1203 11:24'],
    says: ['copy: { file: copy.csv, on: [sku] }'],
  },
  {
    name: 'a name to join on that is nowhere in the task',
    text: campaign(both, ...rows, 'with: { prompt: "{{copy.headline}}" }'),
    data,
    found: ['MB1203 11:24'],
    says: [
      'task `hero` has neither a column nor an axis of that name',
      'under `on`, set its value to one of: sku, name',
    ],
  },
  {
    name: 'a name to join on that is a column and an axis',
    text: campaign(
      both,
      'foreach: copy.csv',
      'key: "{{row.headline}}"',
      'matrix: { locale: [en, de] }',
      'with: { prompt: "{{copy.headline}}" }',
    ),
    data,
    found: ['MB1203 12:24'],
    says: ['is both a column and an axis', '"{{row.locale}}" or "{{matrix.locale}}"'],
  },
  {
    name: 'a value to join on that names nothing',
    text: campaign(['copy: { file: copy.csv, on: { sku: "{{row.sk}}" } }'], ...joined),
    data: { ...data, 'copy.csv': 'sku,headline\nlamp,Light\n' },
    found: ['MB1203 4:41'],
    says: ['did you mean `row.sku`?'],
  },
  {
    name: 'a table in a key',
    text: campaign(both, 'foreach: products.csv', 'key: "{{copy.headline}}"', 'with: { prompt: x }'),
    data,
    found: ['MB1202 10:13'],
    says: ['`copy` cannot be used in `key` of task `hero`'],
  },
  {
    name: 'all rows of a table in a string',
    text: campaign(both, 'with: { prompt: "{{tables.copy}}" }'),
    data,
    found: ['MB1202 9:24'],
    says: ['for the row of this step, omit `tables.`, as in {{copy.headline}}'],
  },
  {
    name: 'tables that are not there',
    text: campaign(
      both,
      'foreach: "{{tables.product}}"',
      'key: x',
      'matrix: { locale: "{{tables.localess}}" }',
      'with: { prompt: x }',
    ),
    data,
    found: ['MB1203 9:24', 'MB1203 11:33'],
    says: ['there is no table `localess`', 'did you mean `locales`?'],
  },
  {
    name: 'what the values of an axis do not hold',
    text: campaign(both, 'matrix: { locale: [{ id: en, cta: Now }] }', 'with: { prompt: "{{matrix.locale.ctaa}}" }'),
    data,
    found: ['MB1203 10:24'],
    says: ['the values of the axis `locale` have no `ctaa`', 'did you mean `matrix.locale.cta`?'],
  },
  {
    name: 'what one value of an axis does not hold',
    text: campaign(both, 'matrix: { locale: [{ id: en, cta: Now }, de] }', 'with: { prompt: "{{matrix.locale.cta}}" }'),
    data,
    found: ['MB1203 10:24'],
    says: ['`matrix.locale.cta` is missing in value 2 of `locale`'],
  },
  {
    name: 'a value of an axis without id',
    text: campaign(both, 'matrix: { locale: [{ cta: Now }] }', 'with: { prompt: x }'),
    data,
    found: ['MB1102 9:24'],
    says: ['has no `id`'],
  },
  {
    name: 'a value of an axis without id, in a var',
    text: campaign(both, 'matrix: { locale: "{{vars.locales}}" }', 'with: { prompt: x }').replace(
      'name: test',
      'name: test\nvars: { locales: [{ cta: Now }] }',
    ),
    data,
    found: ['MB1103 3:19'],
    says: ['value 1 of `locales` has no text or number in `id` for the axis `locale`'],
  },
  {
    name: 'a workbook of several sheets, and none named',
    text: campaign(['copy: { file: copy.xlsx, on: [sku, locale] }'], ...joined),
    data: { ...data, 'copy.xlsx': { workbook: { ...book, sheets: [] } } },
    found: ['MB1302 4:17'],
    says: ['copy.xlsx has several sheets: Notes, Texts', '{ file: copy.xlsx, sheet: Notes }'],
  },
  {
    name: 'a sheet that is not there',
    text: campaign(['copy: { file: copy.xlsx, sheet: Text, on: [sku, locale] }'], ...joined),
    data: { ...data, 'copy.xlsx': { workbook: { ...book, sheets: [] } } },
    found: ['MB1302 4:17'],
    says: ['copy.xlsx has no sheet `Text`; it has Notes, Texts', '{ file: copy.xlsx, sheet: Texts }'],
  },
  {
    name: 'cells whose value nobody knows, but not above the table',
    text: campaign(ofBook, ...joined),
    data: {
      ...data,
      'copy.xlsx': {
        workbook: bookOf(
          [[''], ['sku', 'locale', 'headline'], ['lamp', 'en', ''], ['lamp', 'de', '']],
          [
            { row: 1, column: 1, is: 'error', shows: '#REF!' },
            { row: 3, column: 3, is: 'error', shows: '#N/A' },
            { row: 4, column: 3, is: 'formula' },
            { row: 5, column: 28, is: 'merged' },
          ],
        ),
      },
    },
    found: ['MB1302 copy.xlsx:3:3', 'MB1302 copy.xlsx:4:3', 'MB1302 copy.xlsx:5:28'],
    says: [
      'cell C3 of sheet Texts shows the error #N/A',
      'cell C4 of sheet Texts has a formula',
      'cell AB5 of sheet Texts is merged',
    ],
  },
  {
    name: 'more cells with an error than a function takes arguments',
    text: campaign(ofBook, ...joined),
    data: {
      ...data,
      'copy.xlsx': {
        workbook: bookOf(
          [['sku', 'locale', 'headline'], ...Array.from({ length: 130_000 }, (_, row) => [`${row}`, 'en', ''])],
          Array.from({ length: 130_000 }, (_, row) => ({ row: row + 2, column: 3, is: 'formula' })),
        ),
      },
    },
    found: [...missing, ...[2, 3, 4, 5, 6].map((row) => `MB1302 copy.xlsx:${row}:3`)],
    says: ['(and 129995 more like this)'],
  },
  {
    name: 'the other mistakes of a sheet with an error in a cell, and none that follows from it',
    text: campaign(ofBook, ...joined),
    data: {
      ...data,
      'copy.xlsx': {
        workbook: bookOf(
          [
            ['sku', 'locale', 'headline'],
            ['lamp', 'en', ''],
            ['lamp', 'en', 'Light'],
          ],
          [{ row: 2, column: 3, is: 'error', shows: '#N/A' }],
        ),
      },
    },
    found: [...missing, 'MB1302 copy.xlsx:2:3'],
    says: ['two rows of table `copy` match sku lamp, locale en', 'no row for sku lamp, locale de'],
  },
  {
    name: 'columns of a sheet with one name, and with none',
    text: campaign(ofBook, ...joined),
    data: {
      ...data,
      'copy.xlsx': {
        workbook: bookOf([
          ['sku', 'sku', '', ''],
          ['lamp', 'en', 'x', ''],
        ]),
      },
    },
    found: ['MB1302 copy.xlsx:1:2', 'MB1302 copy.xlsx:1:3'],
    says: [
      'two columns of copy.xlsx, sheet Texts are named "sku"',
      'column C of copy.xlsx, sheet Texts has values and no name',
    ],
  },
  {
    name: 'an empty sheet',
    text: campaign(ofBook, ...joined),
    data: { ...data, 'copy.xlsx': { workbook: bookOf([[''], []]) } },
    found: ['MB1302 copy.xlsx:1:1'],
    says: ['copy.xlsx, sheet Texts is empty'],
  },
  {
    name: 'a workbook that cannot be read',
    text: campaign(ofBook, ...joined),
    data: { ...data, 'copy.xlsx': { problem: 'no-workbook', detail: 'it is damaged' } },
    found: ['MB1302 4:17'],
    says: ['copy.xlsx cannot be read as a workbook (it is damaged)', 'CSV UTF-8'],
  },
  {
    name: 'sheets of what is no workbook',
    text: campaign(
      ['copy: { file: copy.csv, sheet: Texts }'],
      'foreach: { file: products.csv, sheet: Texts }',
      'key: x',
      'with: { prompt: x }',
    ),
    data,
    found: ['MB1103 4:27', 'MB1103 8:36', 'MB1402 9:10'],
    says: ['`sheet` of table `copy` has no effect', '`foreach.sheet` of task `hero` has no effect'],
  },
  {
    name: 'a separator that nothing tells, and a schema that is not at the table',
    text: campaign(
      ['copy: { file: copy.csv, on: [sku] }', 'locales: locales.csv'],
      'foreach: "{{tables.locales}}"',
      'schema: s.json',
      'key: "{{row.id}}"',
      'with: { prompt: x }',
    ),
    data: { ...data, 'copy.csv': 'sku;a,b\n' },
    found: ['MB1103 10:5', 'MB1302 copy.csv:1:1'],
    says: [
      'move `schema` to the table, as in tables: { locales: { file: …, schema: … } }',
      'name the separator, as in tables: { copy: { file: copy.csv, separator: ";" } }',
    ],
  },
  {
    name: 'tables that are wrong in themselves',
    text: campaign(
      [
        'row: copy.csv',
        'slug: copy.csv',
        'a b: copy.csv',
        'c: { fiel: copy.csv }',
        'd: "{{vars.x}}"',
        'e: https://a.example/e.csv',
        'f: "*.csv"',
        'g: { file: a.json, separator: ";" }',
        'h: { file: copy.csv, on: [] }',
        'i: { file: copy.txt }',
      ],
      'with: { prompt: x }',
    ),
    data: { ...data, 'a.json': '[]' },
    found: [
      'MB1103 4:3',
      'MB1103 5:3',
      'MB1103 6:3',
      'MB1101 7:8',
      'MB1202 8:6',
      'MB1103 9:6',
      'MB1103 10:6',
      'MB1103 11:22',
      'MB1103 12:24',
      'MB1103 13:14',
    ],
    says: [
      'a table cannot be named `row`',
      'cannot be the name of a table',
      'did you mean `file`?',
      'table `e` is not the path of one file',
      'a list of columns, each once',
      'name a .csv, .tsv',
    ],
  },
]);
