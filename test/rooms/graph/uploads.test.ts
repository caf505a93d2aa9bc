import { describe, expect, test } from 'vitest';
import { type Facts, load } from '../manifest/load.ts';

const digest = (letter: string) => ({ sha256: letter.repeat(64), bytes: 5 });
const uploads = { 'logo.png': digest('a'), 'assets/copy.png': digest('a'), 'photos/b c.jpg': digest('b') };

function graphOf(text: string, facts: Facts = {}) {
  const { graph, diagnostics } = load(text, { uploads, ...facts });
  if (graph === undefined) throw new Error(JSON.stringify(diagnostics, null, 1));
  return graph;
}

const tasks = (text: string) => `version: 1\nname: t\ntasks:\n${text}`;
const task = tasks('  logo: { kind: upload, with: { file: logo.png } }\n');

describe('uploads', () => {
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
  ])('a file whose name has %s is told', (_name, file) => {
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

  test('a task of the name that they need is told', () => {
    const { diagnostics } = load(tasks(`  upload: { kind: image, with: { prompt: '{{upload "logo.png"}}' } }\n`), {
      uploads,
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1402']);
  });
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

  test.each([
    [{ files: [] }, 'MB1408', 'no file matches photos/*.jpg'],
    [{ problem: 'outside' as const }, 'MB1301', 'cannot be listed'],
  ])('%j is %s', (answer, code, said) => {
    const { diagnostics } = load(rows(), { data: { 'photos/*.jpg': answer } });
    expect(diagnostics[0]?.code).toBe(code);
    expect(diagnostics[0]?.message).toContain(said);
  });
});
