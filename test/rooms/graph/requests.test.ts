import { describe, expect, test } from 'vitest';
import { checkPosts } from '../../../src/graph/check/check-accounts.ts';
import type { Manifest } from '../../../src/manifest/manifest.ts';
import { type Facts, image, load, parse, steps, tasks } from '../manifest/load.ts';
import { type MistakeCase, products, productTask, testMistakes } from '../manifest/mistakes.ts';

describe('kinds whose requests the service does not document', () => {
  testMistakes([
    ['a typing mistake in a field', image('promt: x', 'prompt: y'), 'MB1501 7:7', 'did you mean `prompt`'],
    ['a value in curly quotes', image('prompt: x', 'aspectRatio: “1:1”'), 'MB1503 8:20', 'straight'],
    ['a missing prompt', image('model: alpha-2'), 'MB1502 6:5', 'task `hero`', 'prompt'],
    ['a prompt without value', image('prompt:'), 'MB1503 7:7'],
    [
      'an empty reference image',
      image('prompt: x', 'referenceImages: ["https://a.example/a.png", " "]'),
      'MB1505 8:52',
      'entry 2 of `referenceImages` is empty',
    ],
    ['an empty model', image('prompt: x', 'model: ""'), 'MB1503 8:14', '`model` is empty'],
    ['a prompt that is a number', image('prompt: 2024'), 'MB1503 7:15', 'quotes'],
    ['a prompt that is a map', image('prompt: { a: b }'), 'MB1503 7:7', 'is a map, and must be a string'],
    [
      'an unknown model',
      image('prompt: x', 'model: alpha-3'),
      'MB1503 8:14',
      'alpha-2, alpha-pro, beta-5.0-pro',
      'did you mean',
    ],
    [
      'a resolution that it would replace',
      image('prompt: x', 'resolution: 8k'),
      'MB1503 8:19',
      '1k, 2k, 4k',
      'silently',
    ],
    ['a resolution for a model without', image('prompt: x', 'model: beta-v5-lite', 'resolution: 2k'), 'MB1503 9:19'],
    ['a wrong default', `defaults: { image: { resolution: 8k } }\n${image('prompt: x')}`, 'MB1503 1:34'],
    ['a wrong default that no task uses', `defaults: { music: { out: x } }\n${image('prompt: x')}`, 'MB1501 1:22'],
    [
      'lyrics of 3001 characters',
      tasks(`  a: { kind: music, with: { prompt: x, lyrics: "${'x'.repeat(3001)}" } }`),
      'MB1504 4:48',
      '3001',
      '3000',
    ],
    [
      'a text above the limit of its task, as a row makes it',
      tasks(
        '  a:',
        '    kind: image',
        '    key: "{{row.id}}"',
        '    foreach: [{ id: x, name: ok }, { id: y, name: "much 😀 longer" }]',
        '    with: { prompt: "a {{row.name}}" }',
        '    limits: { prompt: 13 }',
      ),
      'MB1504 8:21',
      'has 15 characters',
      '`limits` allows 13',
      'shorten it by 2',
    ],
    [
      'a limit of a string that holds what another step will give, and of each text of a list',
      tasks(
        '  b: { kind: image, with: { prompt: y } }',
        '  a:',
        '    kind: image',
        '    with: { prompt: "1234 {{tasks.b.url}} 678", referenceImages: ["{{tasks.b.url}}"] }',
        '    limits: { prompt: 8, referenceImages: 1 }',
      ),
      'MB1504 7:21',
      'has 9 characters',
    ],
    [
      'a limit of a field that nobody writes',
      tasks('  a: { kind: image, with: { prompt: x }, limits: { promt: 4 } }'),
      'MB1103 4:52',
      'did you mean `prompt`?',
    ],
    [
      'a limit of the defaults’ text',
      `defaults: { image: { prompt: four } }\n${tasks('  a: { kind: image, limits: { prompt: 3 } }')}`,
      'MB1504 1:30',
    ],
    [
      'a song of the default model, no lyrics',
      tasks('  a: { kind: music, with: { prompt: x } }'),
      'MB1502 4:21',
      'auto',
    ],
    ['an instrumental without lyrics', tasks('  a: { kind: music, with: { prompt: x, model: song-7.5 } }'), ''],
    {
      name: 'reference images of a private network',
      text: image(
        'prompt: x',
        'referenceImages:',
        '  - https://localhost/a.png',
        '  - https://10.0.0.1/a.png',
        '  - https://0x7f.1/a.png',
        '  - https://[::1]/a.png',
        '  - https://user:pw@example.com/a.png',
        '  - https://example.com/a.png',
      ),
      found: ['MB1505 9:11', 'MB1505 10:11', 'MB1505 11:11', 'MB1505 12:11', 'MB1505 13:11'],
    },
    {
      name: 'one reference image instead of a list',
      text: image('prompt: x', 'referenceImages: https://example.com/a.png'),
      found: ['MB1503 8:24'],
    },
  ]);

  const voiceover = (fields: string) => tasks(`  a: { kind: voiceover, with: { ${fields} } }`);
  const video = (fields: string) => tasks(`  a: { kind: video, with: { ${fields} } }`);

  testMistakes([
    ['fields that nobody knows pass', video('prompt: x, fps: 24, style: { light: low }'), ''],
    [
      'a field close to a known one is only a warning',
      video('promt: x'),
      'MB1501 4:29 warning',
      'did you mean `prompt`',
      'sent unchanged',
    ],
    ['a field close to a known one that is there', video('prompt: x, promt: y'), ''],
    [
      'a voice that is none',
      voiceover('text: x, voice_id: Arya'),
      'MB1503 4:52',
      'did you mean `Aria`',
      'Aria (female, american)',
      'Charlie (male, australian)',
      'River (neutral, american)',
    ],
    ['a voice', voiceover('text: x, voice_id: River'), ''],
    [
      'a voice that another task gives',
      tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: voiceover, with: { text: x, voice_id: "{{tasks.b.url}}" } }',
      ),
      'MB1503 5:52',
      'before anything runs',
    ],
    {
      name: 'an empty cell that leaves nothing to make',
      text: tasks(
        '  a: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", with: { text: "{{row.[Text DE]}}", voice_id: Aria } }',
        '  b: { kind: video, foreach: a.csv, key: "{{row.id}}", with: { prompt: "{{row.[Text DE]}}", image: "{{row.image}}" } }',
        '  c: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", with: { text: "{{row.[Text DE]}}", script: x } }',
      ),
      data: { 'a.csv': 'id,Text DE,image\nA,x,\nB,,https://example.com/b.png\n' },
      found: ['MB1502 4:74'],
      says: ['`Text DE` of row 2 of a.csv has no value', `when: "{{ne (trim row.[Text DE]) ''}}"`],
    },
    {
      name: 'an empty cell that was looked up',
      text: tasks(
        '  a: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", matrix: { lang: [de] }, with: { text: "{{lookup row matrix.lang}}", voice_id: Aria } }',
      ),
      data: { 'a.csv': 'id,de\nA,x\nB,\n' },
      found: ['MB1502 4:98'],
      says: ['`de` of row 2 of a.csv has no value', `when: "{{ne (trim (lookup row matrix.lang)) ''}}"`],
    },
    {
      name: 'an empty cell that was looked up by a field of an axis value',
      text: tasks(
        '  a: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", matrix: { lang: [{ id: de, claim: Text DE }] }, with: { text: "{{lookup row matrix.lang.claim}}", voice_id: Aria } }',
      ),
      data: { 'a.csv': 'id,Text DE\nA,x\nB,\n' },
      found: ['MB1502 4:122'],
      says: ['`Text DE` of row 2 of a.csv has no value', `when: "{{ne (trim (lookup row matrix.lang.claim)) ''}}"`],
    },
    ['a length as a string', video('duration: "5"'), 'MB1503 4:39', 'without quotes'],
    { name: 'a link to a private network', text: video('image: https://10.0.0.1/a.png'), found: ['MB1505 4:36'] },
    { name: 'a link without https', text: video('image: http://example.com/a.png'), found: ['MB1505 4:36'] },
    [
      'the output of another task as a length',
      tasks('  b: { kind: image, with: { prompt: x } }', '  a: { kind: video, with: { duration: "{{tasks.b.url}}" } }'),
      'MB1503 5:39',
      'the output of one step',
    ],
    {
      name: 'media of a post that are no list',
      text: tasks('  a: { kind: post, with: { caption: x, media: https://example.com/a.png } }'),
      found: ['MB1503 4:47'],
      says: ['put the value in [ ]'],
    },
  ]);
});

describe('uploads', () => {
  const digest = (letter: string) => ({ sha256: letter.repeat(64), bytes: 5 });
  const uploads = { 'logo.png': digest('a'), 'assets/copy.png': digest('a'), 'photos/b c.jpg': digest('b') };

  function graphOf(text: string, facts: Facts = {}) {
    const { graph, diagnostics } = load(text, { uploads, ...facts });
    if (graph === undefined) throw new Error(JSON.stringify(diagnostics, null, 1));
    return graph;
  }

  const tasks = (text: string) => `version: 1\nname: t\ntasks:\n${text}`;
  const task = tasks('  logo: { kind: upload, with: { file: logo.png } }\n');

  test('are known by their bytes', () => {
    const [step] = graphOf(task).steps;
    expect(step).toMatchObject({
      address: 'logo',
      request: { file: 'logo.png' },
      paidRequest: { file: { $sha256: 'a'.repeat(64) } },
      file: { path: 'logo.png', bytes: 5 },
      save: '',
    });
    const renamed = graphOf(task.replace('logo.png', 'assets/copy.png')).steps[0];
    expect(renamed?.fingerprint).toBe(step?.fingerprint);
    const changed = graphOf(task, { uploads: { 'logo.png': digest('c') } }).steps[0];
    expect(changed?.fingerprint).not.toBe(step?.fingerprint);
  });

  test('a template makes one on the spot, once for each file', () => {
    const graph = graphOf(
      tasks(`  a: { kind: image, foreach: [x, y], with: { prompt: "{{row}}", referenceImages: ['{{upload "logo.png"}}'] } }
  b: { kind: image, with: { prompt: 'like {{upload "photos/b c.jpg"}}', referenceImages: ['{{upload "./logo.png"}}'] } }
`),
    );
    expect(graph.steps.map(({ address }) => address)).toEqual([
      'upload@logo.png',
      'upload@photos:b%20c.jpg',
      'a@x',
      'a@y',
      'b',
    ]);
    expect(graph.tasks[0]).toEqual({ id: 'upload', kind: 'upload', steps: 2 });
    const b = graph.steps.at(-1);
    expect(b?.needs).toEqual(['upload@logo.png', 'upload@photos:b%20c.jpg']);
    expect(b?.request.referenceImages).toEqual([{ $ref: 'upload@logo.png', field: 'url' }]);
    expect(b?.request.prompt).toEqual({ $text: ['like ', { $ref: 'upload@photos:b%20c.jpg', field: 'url' }] });
  });

  test.each([
    ['half a character', 'a\ud800.png'],
    ['bytes that are no UTF-8', 'a\ufffd.png'],
  ])('a file whose name has %s is reported', (_name, file) => {
    const text = tasks("  a: { kind: image, foreach: '*.png', with: { prompt: '{{upload row.path}}' } }\n");
    const { diagnostics } = load(text, { data: { '*.png': { files: ['b.png', file] } }, uploads });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1301']);
    expect(diagnostics[0]?.message).toContain('not UTF-8 text: a\ufffd.png');
  });

  test.each([
    ['{ kind: upload, with: { file: none.png } }', 'MB1301', 'does not exist'],
    ['{ kind: upload, with: { file: ../secret.png } }', 'MB1301', 'below the folder'],
    ['{ kind: upload, with: { file: /etc/passwd } }', 'MB1301', 'below the folder'],
    ['{ kind: upload, with: { } }', 'MB1502', '`file` or `url`'],
    ['{ kind: upload, with: { file: logo.png, url: "https://a.example/x" } }', 'MB1503', 'cannot be combined'],
    ['{ kind: upload, with: { url: "http://a.example/x" } }', 'MB1505', 'http://a.example/x'],
    ['{ kind: upload, with: { file: logo.png }, save: x }', 'MB1602', 'nothing to download'],
    [`{ kind: image, with: { prompt: '{{slug (upload "logo.png")}}' } }`, 'MB1202', 'helper'],
    [`{ kind: image, with: { prompt: a }, save: '{{upload "logo.png"}}' }`, 'MB1202', 'only be used in `with`'],
    [`{ kind: image, with: { prompt: '{{upload ""}}' } }`, 'MB1204', 'path of a file'],
    [`{ kind: image, with: { prompt: '{{upload vars.none}}' } }`, 'MB1203', 'vars.none'],
  ])('%s is %s', (written, code, said) => {
    const { diagnostics } = load(tasks(`  a: ${written}\n`), { uploads });
    expect(diagnostics[0]?.code, JSON.stringify(diagnostics, null, 1)).toBe(code);
    expect(diagnostics[0]?.message).toContain(said);
  });

  test('a task named like the uploads of a template is reported', () => {
    const { diagnostics } = load(tasks(`  upload: { kind: image, with: { prompt: '{{upload "logo.png"}}' } }\n`), {
      uploads,
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1402']);
  });

  describe('files as rows', () => {
    const rows = (key = '') =>
      tasks(`  a:
    kind: image
    foreach: photos/*.jpg
${key}    with: { prompt: "{{row.stem}} {{row.extension}}", referenceImages: ["{{upload row.path}}"] }
`);
    const all = { 'photos/a.jpg': digest('a'), 'photos/b.jpg': digest('b') };

    test('each is a row, named by its stem', () => {
      const graph = graphOf(rows(), {
        data: { 'photos/*.jpg': { files: ['photos/a.jpg', 'photos/b.jpg'] } },
        uploads: all,
      });
      expect(graph.steps.map(({ address }) => address)).toEqual([
        'upload@photos:a.jpg',
        'upload@photos:b.jpg',
        'a@a',
        'a@b',
      ]);
    });

    test('each is named by its path if a stem cannot be a key', () => {
      const graph = graphOf(rows(), {
        data: { 'photos/*.jpg': { files: ['photos/a 1.jpg', 'photos/b.jpg'] } },
        uploads: { ...all, 'photos/a 1.jpg': digest('c') },
      });
      expect(graph.steps.slice(2).map(({ address }) => address)).toEqual(['a@photos-a-1', 'a@photos-b']);
    });

    test.each([
      [{ files: [] }, 'MB1408', 'no file matches photos/*.jpg'],
      [{ problem: 'outside' as const }, 'MB1301', 'cannot be listed'],
    ])('%j is %s', (answer, code, said) => {
      const { diagnostics } = load(rows(), { data: { 'photos/*.jpg': answer } });
      expect(diagnostics[0]?.code).toBe(code);
      expect(diagnostics[0]?.message).toContain(said);
    });
  });
});

describe('saves', () => {
  testMistakes([
    ...(
      [
        ['../x', 'MB1601'],
        ['a/../../x', 'MB1601'],
        ['/etc/x', 'MB1601'],
        ['C:x', 'MB1601'],
        ['~/x', 'MB1601'],
        ['a\\\\b', 'MB1602'],
        ['con', 'MB1602'],
        ['a/Nul.txt', 'MB1602'],
        ['com1', 'MB1602'],
        ['a/./b', 'MB1602'],
        ['a//b', 'MB1602'],
        ['a/', 'MB1602'],
        ['.git/hooks/x', 'MB1602'],
        ['a/.b', 'MB1602'],
        ['a.', 'MB1602'],
        ['a ', 'MB1602'],
        ['aa:b', 'MB1602'],
        ['a?', 'MB1602'],
        ['a\\u0001b', 'MB1602'],
        ['a\\u2028b', 'MB1602'],
        ['a\\u00a0', 'MB1602'],
        ['\\u3000a', 'MB1602'],
        ['a\\u202eb', 'MB1602'],
        ['é'.repeat(101), 'MB1602'],
        [`${'a'.repeat(120)}/${'b'.repeat(121)}`, 'MB1602'],
        ['', 'MB1602'],
        ['campaign.lock.jsonl', 'MB1604'],
        ['campaign.yaml', 'MB1604'],
        ['CAMPAIGN.yaml/x', 'MB1604'],
      ] as const
    ).map(
      ([save, code]): MistakeCase => ({
        name: `the output path ${JSON.stringify(save.slice(0, 20))}`,
        text: tasks(`  a: { kind: image, save: "${save}", with: { prompt: x } }`),
        found: [`${code} 4:27`],
      }),
    ),
    {
      name: 'a data file as output',
      text: productTask('    with: { prompt: x }', '    save: products.csv/{{key}}'),
      data: { 'products.csv': 'sku\nA\n' },
      found: ['MB1604 9:11'],
    },
    [
      'two outputs that differ in case',
      tasks('  a: { kind: image, save: A, with: { prompt: x } }', '  b: { kind: image, save: a, with: { prompt: z } }'),
      'MB1603 5:27',
      'Windows',
    ],
    [
      'two outputs that differ in the form of an accent',
      tasks(
        '  a: { kind: image, save: "\\u00e9", with: { prompt: x } }',
        '  b: { kind: image, save: "e\\u0301", with: { prompt: z } }',
      ),
      'MB1603 5:27',
    ],
    [
      'an output in the way of a folder',
      tasks(
        '  a: { kind: image, save: x/y/z, with: { prompt: x } }',
        '  b: { kind: image, save: X/y, with: { prompt: z } }',
      ),
      'MB1603 5:27',
      'a file and a folder',
    ],
    {
      name: 'steps of one task with one output',
      text: productTask('    with: { prompt: x }', '    save: x'),
      data: { 'products.csv': products },
      found: ['MB1603 9:11'],
      says: ['{{key}}'],
    },
  ]);
});

test('an account that expires before its post goes out is a warning', () => {
  const at = (day: number) => `2030-01-0${day}T00:00:00Z`;
  const text = tasks(`  a: { kind: post, with: { caption: x, accountIds: [acc_1, acc_2], scheduledAt: "${at(3)}" } }
`);
  const accounts = [2, 4].map((day, index) => ({ id: `acc_${index + 1}`, name: 'X', expiresAt: Date.parse(at(day)) }));
  const manifest = parse(text).manifest as Manifest;
  const found = checkPosts(steps(text), { accounts, manifest, now: Date.parse(at(1)) });
  expect(found.map(({ message }) => message)).toEqual([`X (acc_1) expires ${at(2)}, before this post is published`]);
});
