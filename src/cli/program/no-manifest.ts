import { readdirSync } from 'node:fs';
import { CampaignError } from '../../contract/failure.ts';
import { readSmallFile } from '../../disk/fs/plain-file.ts';
import { call, way } from '../../ground/advice.ts';
import { defaultManifest } from './name-manifest.ts';

/** Limit of manifests that are listed, and of bytes that are read of each file. */
const mostNamed = 3;
const mostBytes = 1 << 20;

export function noManifest(command: string): CampaignError {
  const [first, ...others] = findManifests();
  const makeOne = call('init', 'my-campaign');
  const here = others.length === 0 ? [] : [`or ${others.slice(0, mostNamed).join(', ')}`];
  return new CampaignError({
    code: 'MB1001',
    message: `no manifest is named, and there is no ${defaultManifest} in this folder (${process.cwd()})`,
    hint:
      first === undefined
        ? [
            way('name it, as in', { ...call(command), file: `path/to/${defaultManifest}` }),
            way('or make one to start from', makeOne),
          ]
        : [way('name it', { ...call(command), file: first }), ...here],
    file: defaultManifest,
  });
}

function findManifests(): string[] {
  try {
    return readdirSync('.')
      .filter((name) => /\.ya?ml$/i.test(name))
      .filter((name) => /^tasks:/m.test(readSmallFile(name, mostBytes)?.toString('utf8') ?? ''))
      .sort();
  } catch {
    return [];
  }
}
