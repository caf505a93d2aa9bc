import { expect, it } from 'vitest';
import { load, steps, tasks } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

const songs = 'id,path\nrain,lyrics/rain.txt\nsun,lyrics/sun.txt\n';
const data = {
  'songs.csv': songs,
  'lyrics/rain.txt': 'Rain on\r\nthe roof\r\n',
  'lyrics/sun.txt': 'A {{row.id}} day\n\n',
};
const campaign = (lyrics: string, ...more: string[]) =>
  tasks(
    '  s:',
    '    kind: image',
    '    foreach: songs.csv',
    '    key: "{{row.id}}"',
    `    with: { prompt: ${lyrics} }`,
    ...more,
  );

it('is the text of a file with LF, and without the line break at its end', () => {
  const prompts = steps(campaign('"{{read row.path}}"'), { data }).map(({ request }) => request.prompt);
  expect(prompts).toEqual(['Rain on\nthe roof', 'A {{row.id}} day\n']);
});

it('stands among other words and in helpers', () => {
  const [rain] = steps(campaign(`"Calm: {{truncate (read row.path) 4}}; {{key}}"`), { data });
  expect(rain?.request.prompt).toBe('Calm: Rain; rain');
});

it.each(['"{{read row.path}}"', '"Calm: {{read row.path}} ({{row.id}})"'])('is an origin of a change: %s', (prompt) => {
  const { trace } = load(campaign(prompt), { data });
  const [before, after] = ['Rain in May', 'Rain on\nthe roof'].map((text) =>
    prompt.startsWith('"{{') ? text : `Calm: ${text} (rain)`,
  );
  const found = trace?.('s@rain', { path: ['prompt'], before: before ?? '', after: after ?? '' });
  expect(found).toEqual({ is: 'data', name: 'text', file: 'lyrics/rain.txt', line: 1 });
});

testMistakes([
  {
    name: 'a file that is not there',
    text: campaign('"{{read \'lyrics/snow.txt\'}}"'),
    data,
    found: ['MB1301 8:22'],
    says: ['lyrics/snow.txt does not exist'],
  },
  {
    name: 'a file outside of the folder',
    text: campaign('"{{read \'../snow.txt\'}}"'),
    data,
    found: ['MB1301 8:22'],
    says: ['is not the path of a file below the folder of the manifest'],
  },
]);
