import type { ReportCost, ReportCostTable } from '../../contract/report.ts';
import { type Charge, listCharges } from '../../plan/list-charges.ts';
import type { Situation } from '../../plan/situation.ts';
import { sumCharges } from '../../plan/tally-charges.ts';

const dimensions: readonly ReportCostTable['by'][] = ['task', 'kind', 'tag', 'model', 'outcome'];
const nameless = { tag: 'without a tag', model: 'not known' } as const;

/** Sums up where the credits went. Pure. */
export function makeCost(situation: Situation): ReportCost {
  const { graph } = situation;
  const charges = listCharges(situation);
  const { spent, delivered, held } = sumCharges(charges);
  const charged = charges.filter(({ went }) => went !== 'held');
  return {
    ...{ spent, inUse: delivered, held },
    ...(graph.budget !== undefined && { budget: graph.budget }),
    tables: dimensions.map((by) => ({ by, lines: linesOf(charged, by) })),
  };
}

function linesOf(charges: readonly Charge[], by: ReportCostTable['by']): ReportCostTable['lines'] {
  const lines = new Map<string, { name: string; jobs: number; credits: number }>();
  for (const charge of charges) {
    const name = nameOf(charge, by);
    const line = lines.get(name) ?? { name, jobs: 0, credits: 0 };
    lines.set(name, line);
    line.jobs += 1;
    line.credits += charge.credits ?? 0;
  }
  return [...lines.values()].sort((a, b) => b.credits - a.credits || (a.name < b.name ? -1 : 1));
}

function nameOf({ task, kind, tags, model, went }: Charge, by: ReportCostTable['by']): string {
  switch (by) {
    case 'task':
      return task;
    case 'kind':
      return kind;
    case 'tag':
      return tags === null || tags.length === 0 ? nameless.tag : [...tags].sort().join(', ');
    case 'model':
      return model ?? nameless.model;
    case 'outcome':
      return went;
    default:
      return by satisfies never;
  }
}
