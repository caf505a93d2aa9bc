import { digest } from './digest.ts';
import { describeTime } from './kinds/job-view.ts';
import { type RenderOrder, readText } from './kinds/kind.ts';
import { voices } from './kinds/voices.ts';
import { type OwnPath, outputArea } from './own-url.ts';
import type { JsonObject } from './wire.ts';

interface Sample {
  readonly token: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly order: RenderOrder;
}

const accounts = [
  { provider: 'instagram', name: 'Sandbox Studio', username: 'sandbox.studio' },
  { provider: 'tiktok', name: 'Sandbox Shorts', username: 'sandboxshorts' },
  { provider: 'google', name: 'Sandbox Channel', username: 'SandboxChannel' },
] as const;

type Account = (typeof accounts)[number];

function accountId({ provider }: Account): string {
  return `acc_${digest('account', provider).slice(0, 16)}`;
}

export const accountIds: readonly string[] = accounts.map(accountId);

const dayMs = 24 * 60 * 60 * 1000;

export function listAccounts(now: number, origin: string): JsonObject[] {
  return accounts.map((account) => ({
    id: accountId(account),
    provider: account.provider,
    providerAccountId: digest('provider account', account.provider).replace(/\D/g, '').slice(0, 15),
    accountName: account.name,
    accountUsername: account.username,
    profilePicture: linkTo(profilePicture(account), origin),
    // Rounds the date to a whole day that is later than the date of any post, so that it is constant all day.
    expiresAt: describeTime(Math.floor(now / dayMs) * dayMs + 3650 * dayMs),
  }));
}

export function voicePreview(voice: string, origin: string): string {
  return linkTo(voiceSample(voice), origin);
}

function voiceSample(voice: string): Sample {
  return makeSample('voice', voice, { fileName: `${voice.toLowerCase()}.mp3`, mediaType: 'audio/mpeg' });
}

function profilePicture({ provider }: Account): Sample {
  return makeSample('account', provider, { fileName: `${provider}.jpg`, mediaType: 'image/jpeg' });
}

function linkTo({ token, fileName }: Sample, origin: string): string {
  return `${origin}${outputArea}/${token}/${fileName}`;
}

function makeSample(kind: string, name: string, file: { fileName: string; mediaType: string }): Sample {
  const seed = digest('sample', kind, name);
  const order = { kind, body: { name }, seed, take: 1, sourceMs: null, fileName: file.fileName };
  return { token: digest('token', seed).slice(0, 40), ...file, order };
}

let byToken: Map<string, Sample> | undefined;

export function findSample({ token, name }: OwnPath): Sample | undefined {
  byToken ??= new Map(
    [...voices.map(({ id }) => voiceSample(id)), ...accounts.map(profilePicture)].map((sample) => [
      sample.token,
      sample,
    ]),
  );
  const sample = byToken.get(token);
  return sample?.fileName === name ? sample : undefined;
}

export const sampleRenderers: Readonly<Record<string, (order: RenderOrder) => Promise<Uint8Array>>> = {
  async voice({ seed, body }) {
    const { renderSpeech } = await import('./render/sound.ts');
    const voice = readText(body, 'name', '');
    return renderSpeech({ seed, text: `Hello, my name is ${voice}. This is how I sound.`, voice, format: 'mp3' });
  },
  async account({ seed, body }) {
    const provider = readText(body, 'name', '');
    const name = accounts.find((account) => account.provider === provider)?.name ?? provider;
    const { drawPicture } = await import('./render/picture.ts');
    return drawPicture({ seed, prompt: name, footer: provider, width: 256, height: 256, format: 'jpeg' });
  },
};
