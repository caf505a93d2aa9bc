import { extname } from 'node:path';
import { jobToken } from '../../campaign/decisions/judge.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewAsset, ReviewData, ReviewGroup } from '../../contract/review.ts';

type Verdict = NonNullable<ReviewAsset['verdict']>;

/**
 * Reduces a gallery to what a client may see: names, outputs and verdicts. Prices, prompts, ids, paths and commands are
 * removed; files are renamed. `note`: a line above the pictures, for example the sender and a deadline.
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
      .filter(({ files }) => files.some(({ problem }) => problem === undefined));
    const [first] = shown;
    if (first === undefined) return [];
    const title = unique(group.title ?? group.key ?? group.task, group.task);
    const members = shown.map((asset) => {
      const name = shown.length === 1 ? title : unique(nameAmong(asset, group, title), group.task);
      return assets.push(clientAsset(asset, name)) - 1;
    });
    const { task, differBy, gate } = group;
    return [
      { name: title, task, differBy, members, ...(gate && { gate: { ...gate, waiting: 0, waitingCredits: null } }) },
    ];
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
  const { address, task, kind, matrix, take, job, verdict, isJudged, files } = asset;
  for (const [index, file] of files.entries()) {
    const safe = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
    file.path = `${safe}${index === 0 ? '' : `-${index + 1}`}${extname(file.path)}`;
  }
  return {
    ...{ address: name, task, kind, matrix, tags: [], state: 'done', files, request: {}, differs: [] },
    ...(take !== undefined && { take }),
    ...(job !== undefined && { job: jobToken(job), step: address }),
    ...(verdict !== undefined && { verdict: withoutName(verdict) }),
    ...{ isJudged, earlier: [], madeFrom: [], usedBy: [] },
  };
}

function withoutName({ by: _, ...verdict }: Verdict): Verdict {
  return verdict;
}
