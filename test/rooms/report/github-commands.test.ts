import { describe, expect, test } from 'vitest';
import {
  type Annotation,
  annotationText,
  inertText,
  limitAnnotations,
  openGroup,
} from '../../../src/report/github-commands.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { createRunView } from '../../../src/report/run/run-view.ts';
import { runAnnotations } from '../../../src/report/run/run-words.ts';
import { at, eventfulRun, runStarted } from './samples.ts';

/** As the runner reads a line: `::name properties::message`, spaces before it aside, and `##[name]` anywhere. */
const obeyed = (line: string) => line.trimStart().startsWith('::') || line.includes('##[');

test('what would end a property or a message is escaped', () => {
  const text = annotationText({ level: 'error', properties: [['title', 'a::b,c%\r\n']], message: '50%\r\n::error::x' });
  expect(text).toBe('::error title=a%3A%3Ab%2Cc%25%0D%0A::50%25%0D%0A::error::x\n');
});

test('no more than ten of a level, and the last one counts the others', () => {
  const errors = Array.from({ length: 12 }, (_, index): Annotation => {
    return { level: 'error', properties: [], message: `${index + 1}` };
  });
  const warnings = errors.slice(0, 10).map((error): Annotation => ({ ...error, level: 'warning' }));
  const shown = limitAnnotations([...errors, ...warnings]);
  expect(shown.filter(({ level }) => level === 'warning')).toEqual(warnings);
  expect(shown.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
    ...['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    '3 more, in the log of this step',
  ]);
});

test('a title ends no line', () => {
  expect(openGroup('a\n::error::b')).toBe('::group::a\\n::error::b\n');
});

test.each(['::error::x', '  ::add-mask::a', 'a\n\t::stop-commands::t\nb', 'a prompt with ##[error]x', '::::', '\r::a'])(
  'nothing in %j is obeyed, and it reads the same',
  (text) => {
    const inert = inertText(text);
    expect(text.split('\n').some(obeyed)).toBe(true);
    expect(inert.split('\n').some(obeyed)).toBe(false);
    expect(inert.replaceAll('\u200b', '')).toBe(text);
  },
);

describe('annotations of a run', () => {
  const annotationsOf = (events: Parameters<typeof foldEvent>[1][]) => {
    const view = createRunView();
    for (const event of events) foldEvent(view, event);
    return runAnnotations(view, { file: 'ads/campaign.yaml' });
  };

  test('one for each reason, and for what waits', () => {
    expect(annotationsOf(eventfulRun())).toMatchInlineSnapshot(`
      "::error file=ads/campaign.yaml,title=hero@en failed::moderated \\x1b[2J
      ::error file=ads/campaign.yaml,title=hero@l'été failed::the link has expired
      ::error file=ads/campaign.yaml,title=theme@c refused::bad lyrics
      ::error file=ads/campaign.yaml,title=hero@it lost::unknown job
      ::error file=ads/campaign.yaml,title=spending stopped::interrupted: nothing more is bought
      ::warning file=ads/campaign.yaml,title=hero@fr unresolved::no answer
      ::warning file=ads/campaign.yaml,title=notice::hero@fr: an earlier create of this step was made: job j-8, which is on record now
      ::warning file=ads/campaign.yaml,title=notice::the service calls the job RENDERING
      ::warning file=ads/campaign.yaml,title=notice::hero@de: a file in the way was renamed
      "
    `);
  });

  test('steps that failed for one reason are one annotation', () => {
    const failed = Array.from({ length: 21 }, (_, index) => {
      const address = `hero@${index}::x`;
      const step = { address, task: 'hero' };
      const error = `bad\n::x, job j-${index} of ${address}`;
      return [
        at(0, { event: 'step-started', ...step, kind: 'image', action: 'create' } as const),
        at(0, { event: 'job-created', address, jobId: `j-${index}`, credits: 2, balance: null } as const),
        at(0, { event: 'step-finished', ...step, outcome: 'failed', credits: 0, error } as const),
      ];
    });
    const events = [at(0, runStarted([{ id: 'hero', kind: 'image', steps: 21 }])), ...failed.flat()];
    expect(annotationsOf(events)).toBe(
      '::error file=ads/campaign.yaml,title=21 steps failed::bad\\n::x, job … of …%0A' +
        'hero@0::x, hero@1::x, hero@2::x, hero@3::x, hero@4::x and 16 more\n',
    );
  });

  test('none where all went well', () => {
    expect(annotationsOf([at(0, runStarted([{ id: 'hero', kind: 'image', steps: 0 }]))])).toBe('');
  });
});
