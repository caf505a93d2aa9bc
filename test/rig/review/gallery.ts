import type {
  ReportAlike,
  ReportCost,
  ReportCostTable,
  ReportParts,
  ReportSpan,
} from '../../../src/contract/report.ts';
import type { ReviewAsset, ReviewData, ReviewGroup } from '../../../src/contract/review.ts';
import { stepStates } from '../../../src/plan/situation/step-state.ts';
import type { Diagram, DiagramNode } from '../../../src/report/diagram/diagram.ts';
import { diagramSvg } from '../../../src/report/diagram/diagram-svg.ts';
import { asset, file } from './campaign.ts';

/** When the run of every gallery here began. */
const started = Date.UTC(2026, 10, 20, 9, 0, 0);

const tasks = [
  { task: 'draft', kind: 'image', takes: 4 },
  { task: 'hero', kind: 'image', styles: ['warm', 'cold', 'night'] },
  { task: 'voice', kind: 'speech' },
  { task: 'clip', kind: 'video' },
] as const;

/** A campaign of about `count` assets (nine for each key) with everything that a gallery can show. */
export function galleryData(count: number): ReviewData {
  const assets: ReviewAsset[] = [];
  const groups: ReviewGroup[] = [];
  for (let key = 0; assets.length < count; key += 1) {
    const name = `p${String(key + 1).padStart(4, '0')}`;
    for (const one of tasks) {
      const own = assetsOf(one, name, key, assets.length);
      const group = `${one.task}@${name}`;
      const members = own.map((_, index) => assets.length + index);
      assets.push(...own);
      groups.push({
        ...{ name: group, task: one.task, key: name, members },
        differBy: 'takes' in one ? ['take'] : 'styles' in one ? ['style'] : [],
        ...('takes' in one && {
          gate: {
            is: 'choose',
            choose: 1,
            state: own.some(({ verdict }) => verdict) ? 'decided' : 'open',
            waiting: 3,
            waitingCredits: 18,
          },
        }),
      });
    }
  }
  const byTask = tasks.flatMap(({ task }) => groups.filter((group) => group.task === task));
  return {
    ...{ version: 1, revision: 1, campaign: 'aurora-launch', file: 'campaign.yaml', canDecide: false },
    ...{ groups: byTask, assets, report: reportOf(assets) },
  };
}

function assetsOf(one: (typeof tasks)[number], key: string, index: number, first: number): ReviewAsset[] {
  const { task, kind } = one;
  const name = `${task}@${key}`;
  const shared = {
    task,
    kind,
    key,
    row: `row ${index + 2} of products.csv`,
    tags: index % 3 === 0 ? ['launch', 'web'] : ['web'],
  };
  const origins = { prompt: `campaign.yaml:14, name of products.csv:${index + 2}`, model: 'campaign.yaml:6' };
  if ('takes' in one) {
    return Array.from({ length: one.takes }, (_, take) =>
      asset(`${name},take:${take + 1}`, {
        ...{
          ...shared,
          take: take + 1,
          files: [file(first + take)],
          origins,
          estimated: 2,
          usedBy: [`hero@${key},warm`],
        },
        request: { model: 'alpha-2', prompt: `Product ${index + 1} on oak, soft morning light`, seed: take },
        differs: ['seed'],
        ...(index % 2 === 0 &&
          take < 2 && { verdict: take === 1 ? { is: 'picked' as const, note: 'calm' } : { is: 'rejected' as const } }),
      }),
    );
  }
  if ('styles' in one) {
    return one.styles.map((style, place) => {
      const at = first + place;
      const request = {
        model: 'alpha-pro',
        prompt: `The same picture, finished, ${style}, on elm with a brass lamp beside it`,
        referenceImages: [{ $ref: `draft@${key},take:2`, field: 'url' }],
      };
      const earlier = {
        ...{ job: `old-${at}`, credits: 6, changed: ['prompt'], files: [file(at + 7, 'image')] },
        request: { ...request, prompt: `The same picture, finished, ${style}, on oak` },
      };
      return asset(`${name},${style}`, {
        ...{
          ...shared,
          matrix: { style },
          files: [file(at)],
          origins,
          request,
          credits: 6,
          estimated: 5,
          isJudged: false,
        },
        ...{ differs: ['prompt'], madeFrom: [`draft@${key},take:2`], usedBy: place === 0 ? [`clip@${key}`] : [] },
        ...(index % 4 === 1 && { earlier: [earlier] }),
        ...(index % 4 === 2 && { before: earlier }),
        ...(index % 4 === 3 && { before: null }),
        ...stateOf(index * 3 + place, at),
      });
    });
  }
  const is = kind === 'video' ? 'video' : 'audio';
  return [
    asset(name, {
      ...{
        ...shared,
        isJudged: false,
        files: [file(first, is)],
        credits: 1,
        request: { text: `Welcome, product ${index + 1}` },
      },
      ...(task === 'clip' && { madeFrom: [`hero@${key},warm`], ...stateOf(index, first) }),
    }),
  ];
}

/** Some that have nothing to show, for each reason. */
function stateOf(number: number, at: number): Partial<ReviewAsset> {
  const { url: _, thumb: __, ...lost } = file(at);
  switch (number % 23) {
    case 3:
      return { files: [], credits: 0, state: 'failed', error: 'timed out at the service' };
    case 8:
      return { files: [], credits: 0, state: 'planned' };
    case 12:
      return { files: [{ ...lost, problem: 'missing' }] };
    case 17:
      return { files: [{ ...lost, problem: 'damaged' }] };
    case 20:
      return { state: 'changed' };
    default:
      return {};
  }
}

function reportOf(assets: readonly ReviewAsset[]): ReportParts {
  const images = assets.filter(({ kind }) => kind === 'image').length;
  const graph = diagramSvg(diagramOf(assets));
  return {
    made: started + 3_600_000,
    compare: { ref: 'main', commit: '3b04d52f00aa11bb22cc33dd44ee55ff66778899' },
    timeline: {
      run: '20261120-090000-a1b2',
      ...{ started, ended: started + 900_000, exitCode: 3 },
      spans: spansOf(assets),
    },
    cost: costOf(assets),
    ...(graph !== undefined && { graph }),
    alike: alikeOf(assets),
    hashed: { compared: images - 3, images },
  };
}

function spansOf(assets: readonly ReviewAsset[]): ReportSpan[] {
  return assets.flatMap(({ address, task, state, error, credits }, index): ReportSpan[] => {
    if (state === 'planned') return [];
    const sent = started + index * (880_000 / assets.length);
    const job = sent + 200 + (index % 7) * 300;
    const finished = job + 4000 + ((index * 37) % 11) * 1500;
    const shared = { asset: index, address, task, sent, job, finished };
    if (state === 'failed') return [{ ...shared, end: 'failed', credits: 0, ...(error !== undefined && { error }) }];
    return [{ ...shared, saved: finished + 300 + (index % 5) * 80, end: 'done', credits: credits ?? null }];
  });
}

function costOf(assets: readonly ReviewAsset[]): ReportCost {
  const spent = assets.reduce((sum, { credits }) => sum + (credits ?? 0), 0);
  const table = (by: ReportCostTable['by'], nameOf: (asset: ReviewAsset) => string): ReportCostTable => {
    const lines = new Map<string, { name: string; jobs: number; credits: number }>();
    for (const one of assets) {
      if (one.credits === undefined) continue;
      const line = lines.get(nameOf(one)) ?? { name: nameOf(one), jobs: 0, credits: 0 };
      lines.set(line.name, { ...line, jobs: line.jobs + 1, credits: line.credits + (one.credits ?? 0) });
    }
    return { by, lines: [...lines.values()].sort((a, b) => b.credits - a.credits) };
  };
  return {
    ...{ spent, inUse: Math.round(spent * 0.7), held: 12, budget: Math.round(spent * 1.2) },
    tables: [
      table('task', ({ task }) => task),
      table('kind', ({ kind }) => kind),
      table('model', ({ request }) => String(request.model ?? 'no model')),
      table('outcome', ({ verdict, state }) =>
        verdict?.is === 'rejected' ? 'not picked' : state === 'changed' ? 'superseded' : 'in use',
      ),
    ],
  };
}

function alikeOf(assets: readonly ReviewAsset[]): ReportAlike[] {
  const of = (task: string) => assets.flatMap((one, index) => (one.task === task ? [index] : []));
  const [drafts, heroes] = [of('draft'), of('hero')];
  const withEarlier = assets.findIndex(({ earlier }) => earlier.length > 0);
  const found: ReportAlike[] = [
    { is: 'rows', members: heroes.slice(0, 3), credits: 12, distance: 3 },
    { is: 'edit', members: withEarlier < 0 ? [] : [withEarlier], credits: 6, distance: 1 },
    { is: 'takes', members: drafts.slice(0, 2), credits: 2, distance: 2 },
  ];
  return found.filter(({ members }) => members.length > 0);
}

function diagramOf(assets: readonly ReviewAsset[]): Diagram {
  const nodes = tasks.map(({ task, kind }): DiagramNode => {
    const own = assets.filter((one) => one.task === task);
    const states = Object.fromEntries(stepStates.map((state) => [state, 0])) as Record<
      (typeof stepStates)[number],
      number
    >;
    for (const { state } of own) states[state === 'planned' ? 'not-bought' : state] += 1;
    const spent = own.reduce((sum, { credits }) => sum + (credits ?? 0), 0);
    const credits = { spent, held: 0, toSpend: 6, expected: 0, waiting: 0, unpriced: 0 };
    return { is: 'task', id: task, task, kind, steps: own.length, states, credits };
  });
  return {
    ...{ campaign: 'aurora-launch', by: 'task', nodes },
    edges: [
      { from: 'draft', to: 'hero', links: [] },
      { from: 'hero', to: 'clip', links: [] },
    ],
  };
}
