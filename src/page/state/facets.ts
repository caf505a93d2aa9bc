import { type Facet, pageFacets } from '../model/filter.ts';
import { remarkOn } from './remarks.ts';

const secondChoice = 'second choice';

/** Filters of the review page. The state filter also offers remarks of this browser. */
export const reviewFacets: readonly Facet[] = pageFacets.map((facet) =>
  facet.name === 'state'
    ? {
        ...facet,
        values: [...(facet.values ?? []), secondChoice],
        valuesOf: (asset) => [...facet.valuesOf(asset), remarkOn(asset).isSecond ? secondChoice : undefined],
      }
    : facet,
);
