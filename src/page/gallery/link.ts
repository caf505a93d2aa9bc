import type { Facet } from '../model/filter.ts';

const facetNames: readonly Facet['name'][] = ['task', 'tag', 'kind', 'state', 'verdict', 'cost'];

/** State of the view as stored in the URL after `#`. */
export interface Link {
  /** Names of the open views, the uppermost last; empty for the initial views. */
  views: readonly string[];
  /** Selected facet values, by the names of the facets. */
  chosen: Readonly<Record<string, string>>;
  undecided: boolean;
  search: string;
  sections: string;
  details: boolean;
  active: string;
}

/** Parses the URL's hash. Unknown and empty parameters are ignored. */
export function readLink(hash: string): Link {
  const said = new URLSearchParams(hash.replace(/^#/, ''));
  const chosen = facetNames.flatMap((name) => (said.get(name) ? [[name, said.get(name) ?? '']] : []));
  return {
    views: (said.get('view') ?? '').split('.').filter(Boolean),
    chosen: Object.fromEntries(chosen) as Record<string, string>,
    undecided: said.get('undecided') === 'yes',
    search: said.get('search') ?? '',
    sections: said.get('sections') ?? '',
    details: said.get('details') === 'yes',
    active: said.get('active') ?? '',
  };
}

export function writeLink({ views, chosen, undecided, search, sections, details, active }: Link): string {
  const said = new URLSearchParams();
  const parts: [string, string][] = [
    ['view', views.join('.')],
    ...Object.entries(chosen),
    ['undecided', undecided ? 'yes' : ''],
    ['search', search],
    ['sections', sections],
    ['details', details ? 'yes' : ''],
    ['active', active],
  ];
  for (const [name, value] of parts) if (value !== '') said.set(name, value);
  return `#${said}`;
}
