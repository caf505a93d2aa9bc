import { join, resolve } from 'node:path';
import { OutputError, UnsafeFileError } from '../contract/errors.ts';
import { CampaignError } from '../contract/failure.ts';
import { findHiddenPart, findWayOut } from '../disk/fs/own-tree.ts';
import { PlacedFiles } from '../disk/outputs/check-outputs.ts';
import { deliverFile, inspectDelivery } from '../disk/outputs/relocate-output.ts';
import { checkSavePath } from '../graph/check/check-saves.ts';
import { call, way } from '../ground/advice.ts';
import { eachAtOnce } from '../ground/places.ts';
import { type JsonMap, messageOf } from '../ground/values.ts';
import type { Output } from '../lock/record.ts';
import type { FoundOutput } from '../plan/outputs/list-outputs.ts';
import { type NamedDelivery, nameDeliveries } from '../plan/outputs/list-outputs.ts';
import { outputsList, readListed } from '../report/outputs/outputs-list.ts';
import { shortList } from '../report/safe-text.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { wrongOptions } from './option-table.ts';
import { findOutputs, type OutputsOptions, ownList, readOutputsList } from './outputs-list.ts';
import { refuseOther, saveOwnFile } from './own-file.ts';

export interface DeliverOptions extends OutputsOptions {
  to?: string | undefined;
  layout?: string | undefined;
  format?: 'csv' | 'csv-semicolon' | undefined;
  dryRun?: boolean | undefined;
}

interface Delivered {
  copied: string[];
  replaced: string[];
  there: string[];
  undecided: string[];
}

type Delivery = NamedDelivery<FoundOutput>;

export const deliveryIndex = 'outputs.csv';
const most = 5;

const atOnce = 8;

/**
 * Copies output files and a list of them to a folder or bucket. Reports all problems before the first copy. Overwrites
 * only a list and files that an earlier call delivered. `env`: variables with the bucket's credentials.
 */
export async function deliver(
  campaign: OpenCampaign,
  options: DeliverOptions,
  env: NodeJS.Dict<string>,
): Promise<Delivered> {
  const { to = '' } = options;
  const place = await openPlace(to, campaign, env);
  const found = await findOutputs(campaign, options);
  requireDownloaded(found.files);
  const deliveries = nameDeliveries(found.files, options.layout);
  if ('problem' in deliveries) {
    const { problem, hint } = deliveries;
    throw wrongOptions(`--layout: ${problem}`, hint, '--layout');
  }
  const listed = readListed((await place.readIndex(deliveryIndex)) ?? '');
  const inspect = async ({ name, file: { output } }: Delivery): Promise<DestinationState> => {
    const { sha256, bytes } = (await place.look(name)) ?? {};
    if (bytes === undefined) return 'free';
    if (sha256 === output.sha256 && bytes === output.bytes) return 'same';
    const isOurs = sha256 !== undefined && (listed.get(name)?.sha256 === sha256 || found.isOnRecord(sha256));
    return isOurs ? 'earlier' : 'other';
  };
  const states = new Map<Delivery, DestinationState>();
  await eachAtOnce(deliveries, atOnce, async (delivery) => states.set(delivery, await inspect(delivery)));
  const those = (...wanted: DestinationState[]) =>
    deliveries.filter((one) => wanted.some((is) => is === states.get(one)));
  const others = those('other');
  if (others.length > 0) throw inTheWay(to, others.map(nameOf));
  const wanting = those('free', 'earlier');
  const delivered = {
    copied: wanting.map(nameOf),
    replaced: those('earlier').map(nameOf),
    there: those('same').map(nameOf),
    undecided: found.undecided,
  };
  if (options.dryRun === true) return delivered;
  const placed = new PlacedFiles(campaign.paths.outputs);
  await eachAtOnce(wanting, atOnce, async (delivery) => {
    const { file, name } = delivery;
    const { output } = file;
    // Another program may have written this file after the first check.
    if ((await inspect(delivery)) === 'other') throw inTheWay(to, [name]);
    const source = placed.inspect(output);
    const isCopied = typeof source !== 'string' && (await place.put(source.path, name, output));
    if (!isCopied) throw notDelivered(to, `${output.path} has changed since it was checked`);
  });
  const files = deliveries.map(({ file, name }) => ({ ...file, output: { ...file.output, path: name } }));
  if (files.length > 0) {
    for (const { name } of deliveries) listed.delete(name);
    const list = {
      campaign: found.campaign,
      files,
      posts: [],
      folder: '',
      delivered: await findStillDelivered(place, listed),
    };
    await place.putIndex(deliveryIndex, outputsList(list, options.format ?? 'csv', 'file'));
  }
  return delivered;
}

async function findStillDelivered(place: DeliveryPlace, listed: ReadonlyMap<string, JsonMap>): Promise<JsonMap[]> {
  const found = new Set<string>();
  await eachAtOnce([...listed], atOnce, async ([name, { sha256 }]) => {
    if (checkSavePath(name) === undefined && (await place.look(name))?.sha256 === sha256) found.add(name);
  });
  return [...listed].flatMap(([name, line]) => (found.has(name) ? [line] : []));
}

type DestinationState = 'free' | 'same' | 'earlier' | 'other';

const nameOf = ({ name }: Delivery) => name;

async function openPlace(to: string, { paths }: OpenCampaign, env: NodeJS.Dict<string>): Promise<DeliveryPlace> {
  if (to === '')
    throw wrongOptions('--to is missing, so the files have no destination', 'name a folder: --to delivery', '--to');
  if (/^s3:\/\//i.test(to)) {
    const { bucketPlace } = await import('./on-engine/deliver-to-bucket.ts');
    return bucketPlace(to, { env, fail: (why) => notDelivered(to, why) });
  }
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(to)) return folderPlace(to, paths);
  const message = `--to ${to}: files can be delivered only to a folder or to s3://`;
  throw wrongOptions(message, 'name a folder, or s3://BUCKET/PREFIX', '--to');
}

function requireDownloaded(files: readonly FoundOutput[]): void {
  const away = files.filter(({ fileState }) => fileState !== 'intact');
  const [first] = away;
  if (first === undefined) return;
  const names = shortList(
    away.map(({ output }) => output.path),
    most,
  );
  throw new CampaignError({
    code: 'MB3002',
    message: `${away.length === 1 ? 'a file is' : `${away.length} files are`} missing or changed on this machine: ${names}`,
    hint: way('to download paid files for free', call('apply')),
    name: first.address,
  });
}

function inTheWay(to: string, names: readonly string[]): CampaignError {
  const what = names.length === 1 ? 'a file with this name' : `${names.length} files with these names`;
  return new CampaignError({
    code: 'MB3301',
    message: `${to} already contains ${what}, but with different content: ${shortList(names, most)}`,
    hint: 'this campaign replaces only files that it delivered itself: deliver to another folder, or remove the files',
    path: to,
  });
}

interface DeliveryPlace {
  look(name: string): Promise<{ bytes: number; sha256?: string | undefined } | undefined>;
  put(source: string, name: string, output: Output): Promise<boolean>;
  readIndex(name: string): Promise<string | undefined>;
  putIndex(name: string, text: string): Promise<void>;
}

function folderPlace(to: string, { lock }: { lock: string }): DeliveryPlace {
  const root = resolve(to);
  const hidden = findHiddenPart(root);
  const wayOut = hidden === undefined ? findWayOut(root) : `the path has the hidden part ${hidden}`;
  if (wayOut !== undefined) {
    const message = `--to: cannot deliver to ${to}: ${wayOut}`;
    throw new CampaignError({ code: 'MB3301', message, hint: 'choose another folder', path: to });
  }
  const own = (name: string) => ({ ...ownList('csv'), lock, name: { asked: '--to', path: join(to, name) } });
  return {
    look: (name) => onDisk(to, () => inspectDelivery(root, name)),
    put: (source, name, { sha256 }) => onDisk(to, () => deliverFile(source, { root, name, sha256 })),
    readIndex: async (name) => {
      const path = join(root, name);
      refuseOther(path, own(name));
      return readOutputsList(path);
    },
    putIndex: (name, text) => saveOwnFile(join(root, name), text, own(name)),
  };
}

function notDelivered(to: string, why: string): CampaignError {
  const hint = 'run the same command again to copy the remaining files';
  return new CampaignError({ code: 'MB3301', message: `--to: ${to}: ${why}`, hint, path: to });
}

async function onDisk<T>(to: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfDisk = error instanceof OutputError || error instanceof UnsafeFileError;
    if (!isOfDisk && (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw notDelivered(to, messageOf(error));
  }
}
