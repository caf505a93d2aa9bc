import { type Facet, pageFacets } from '../model/filter.ts';
import { remarkOn } from './remarks.ts';

const secondChoice = 'second choice';

/** Filters of the review page: what is noted in this browser is a state, too. */
export const reviewFacets: readonly Facet[] = pageFacets.map((facet) =>
  facet.name === 'state'
    ? {
        ...facet,
        values: [...(facet.values ?? []), secondChoice],
        valuesOf: (asset) => [...facet.valuesOf(asset), remarkOn(asset).isSecond ? secondChoice : undefined],
      }
    : facet,
);
