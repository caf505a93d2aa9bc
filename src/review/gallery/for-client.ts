import { extname } from 'node:path';
import { jobToken } from '../../campaign/decisions/judge.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewAsset, ReviewData, ReviewGroup } from '../../contract/review.ts';

/**
 * Reduces a gallery to what a client may see and decide: names and outputs. Prices, prompts, ids, paths, commands and
 * earlier decisions with their words are removed, and so are rejected outputs; files are renamed. `note`: a line above the pictures, for example the sender and a deadline.
 */
export function forClient(
  data: ReviewData & { report: ReportParts },
  note: string,
): ReviewData & { report: ReportParts } {
  const names = new Set<string>();
  const unique = (name: string, task: string) => {
    let found = name;
    for (let n = 1; names.has(found); n += 1) found = n === 1 ? `${name}, ${task}` : `${name}, ${task} ${n}`;
    names.add(found);
    return found;
  };
  const assets: ReviewAsset[] = [];
  const groups = data.groups.flatMap((group): ReviewGroup[] => {
    const shown = group.members
      .flatMap((member) => data.assets[member] ?? [])
      .filter(({ files, verdict }) => verdict?.is !== 'rejected' && files.some(({ problem }) => problem === undefined));
    const [first] = shown;
    if (first === undefined) return [];
    const key = group.title ?? group.key ?? group.task;
    const title = unique(key, group.task);
    const members = shown.map((asset) => {
      const name = shown.length === 1 ? title : unique(nameAmong(asset, group, title), group.task);
      return assets.push({ ...clientAsset(asset, name), key }) - 1;
    });
    const { task, differBy, gate } = group;
    const state = 'open' as const;
    const asked = gate && {
      is: gate.is,
      choose: Math.min(gate.choose, shown.length),
      state,
      waiting: 0,
      waitingCredits: null,
    };
    return [{ name: title, task, differBy, members, ...(asked && { gate: asked }) }];
  });
  const { version, revision, campaign, canDecide, report } = data;
  return {
    ...{ version, revision, campaign, file: campaign, canDecide, groups, assets },
    report: { made: report.made, client: note },
  };
}

function nameAmong(asset: ReviewAsset, { differBy }: ReviewGroup, title: string): string {
  const parts = differBy.flatMap((by) => (by === 'take' ? `take ${asset.take ?? ''}` : (asset.matrix[by] ?? [])));
  return [title, ...parts].join(', ');
}

function clientAsset(asset: ReviewAsset, name: string): ReviewAsset {
  const { address, task, kind, matrix, take, job, isJudged, files } = asset;
  for (const [index, file] of files.entries()) {
    const safe = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
    file.path = `${safe}${index === 0 ? '' : `-${index + 1}`}${extname(file.path)}`;
  }
  return {
    ...{ address: name, task, kind, matrix, tags: [], state: 'done', files, request: {}, differs: [] },
    ...(take !== undefined && { take }),
    ...(job !== undefined && { job: jobToken(job), step: address }),
    ...{ isJudged, earlier: [], madeFrom: [], usedBy: [] },
  };
}
