import { expect, test } from 'vitest';
import { situate } from '../../../src/plan/situation/situation.ts';
import { mermaidText } from '../../../src/report/mermaid.ts';
import { graphOf } from '../../rig/campaign.ts';

/** Names that would end the text, the line or the label where they stand, or be read as HTML or Markdown. */
const hostile = [
  '</text><script>alert(1)</script>',
  '"]; click n0 "javascript:alert(1)"',
  '%%{init: {"theme":"dark"}}%%',
  'a`b` **c** #quot; &lt;',
  'line\u2028break\u202e',
];

test('nothing in a name means anything to Mermaid', () => {
  const { steps, ...graph } = graphOf(
    'version: 1\nname: names\ntasks:\n  a: { kind: music, takes: 5, with: { prompt: x, model: song-7.5 } }\n',
  );
  const named = { ...graph, steps: steps.map((step, index) => ({ ...step, address: `a@${hostile[index]}` })) };
  const text = mermaidText(situate(named, { version: 2, steps: new Map() }), { selected: undefined, bySteps: true });
  const [start, title, ...nodes] = (text ?? '').trimEnd().split('\n');
  expect([start, title]).toEqual(['flowchart LR', '  accTitle: names']);
  expect(nodes).toHaveLength(hostile.length);
  for (const node of nodes) expect(node).toMatch(/^ {2}n\d\["(?:[\p{L}\p{N} .,/@+·…-]|#\d+;|<br\/>)+"\]$/u);
});
