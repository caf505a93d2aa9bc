import type { ReviewAsset } from '../../contract/review.ts';
import { groupBy } from '../../ground/values.ts';
import { counted } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { Section } from './grid-layout.ts';

export function aboutOf(page: Page): string {
  const { made, compare, embedded, client } = page.data.value.report ?? { made: 0 };
  if (client) return client;
  return [
    `as of ${new Date(made).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`,
    compare && `compared with ${compare.ref} (${compare.commit.slice(0, 10)})`,
    embedded && embedded.left > 0 && `${embedded.left} originals are not in this file`,
  ]
    .filter(Boolean)
    .join(' · ');
}

const lacksOutput = ({ files }: ReviewAsset) => files.length === 0;

export function sectionsOf({ strips, isForClient }: Page): Section[] {
  if (isForClient) return strips.value.map(({ group, assets }) => ({ name: group.group.title ?? '', assets }));
  const byTask = groupBy(
    strips.value.flatMap(({ assets }) => assets),
    ({ task }) => task,
  );
  return [...byTask].map(([name, assets]) => ({
    name,
    assets: assets.toSorted((a, b) => Number(lacksOutput(a)) - Number(lacksOutput(b))),
  }));
}

export function shownWords({ isForClient }: Page, shown: number, all: number): string {
  // A step may have no output yet.
  const word = isForClient ? 'output' : 'step';
  return shown === all ? counted(all, word) : `${shown} of ${counted(all, word)}`;
}
