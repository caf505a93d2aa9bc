import type { ListedJob } from '../../contract/answer.ts';
import type { Approval } from '../../contract/approval.ts';
import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import { active, bad, type Document, faint, good, jsonOf, listOf, strong, type Text, warning } from '../document.ts';
import { ageText, bytesText, clockText, creditsText } from '../numbers.ts';

interface AccountRow {
  id: string;
  /** Social network, as the service names it. `google` is YouTube. */
  provider: string;
  name: string;
  username: string;
  /** ISO 8601. After this time, the user must connect the account again. */
  expiresAt?: string;
}

const platforms: Readonly<Record<string, string>> = {
  google: 'YouTube',
  youtube: 'YouTube',
  instagram: 'Instagram',
  tiktok: 'TikTok',
  facebook: 'Facebook',
  linkedin: 'LinkedIn',
  bluesky: 'Bluesky',
  threads: 'Threads',
  pinterest: 'Pinterest',
};

/** Returns the usual name of a social network, or the service's name for an unknown network. */
export function platformName(provider: string): string {
  const word = provider.toLowerCase();
  return Object.hasOwn(platforms, word) ? (platforms[word] ?? provider) : provider;
}

const soonMs = 7 * 86_400_000;

function expiryOf(expiresAt: string | undefined, now: number): 'unknown' | 'valid' | 'soon' | 'past' {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  if (Number.isNaN(at)) return 'unknown';
  if (at <= now) return 'past';
  return at - now <= soonMs ? 'soon' : 'valid';
}

export function accountsView(rows: readonly AccountRow[], now: number): Document {
  return [
    listOf(rows, [
      { title: 'id', of: ({ id }) => strong(id) },
      { title: 'platform', of: ({ provider }) => platformName(provider) },
      { title: 'name', least: 8, of: ({ name }) => name },
      {
        title: 'username',
        least: 8,
        of: ({ username }) => (username === '' ? '' : `@${username.replace(/^@+/, '')}`),
      },
      { title: 'expires', of: ({ expiresAt = '?' }) => expiryMarks[expiryOf(expiresAt, now)](expiresAt.slice(0, 10)) },
    ]),
  ];
}

const expiryMarks = {
  unknown: faint,
  valid: good,
  soon: (day: string) => warning(`${day}, soon`),
  past: (day: string) => bad(`${day}, expired`),
} as const;

export function accountsJson(rows: readonly AccountRow[], now: number): Json {
  const accounts = rows.map((row) => ({
    ...row,
    platform: platformName(row.provider),
    expiry: expiryOf(row.expiresAt, now),
  }));
  return jsonOf('accounts', { accounts });
}

type ApprovalRow = Omit<Approval, 'version' | 'digest' | 'lock'> & { over: string | undefined };

export function approvalsView(rows: readonly ApprovalRow[], now: number): Document {
  const endOf = ({ until, ended, over }: ApprovalRow): Text =>
    over === undefined ? good(clockText(until, now)) : faint(ended === undefined ? 'over' : 'done');
  return [
    listOf(rows, [
      { title: 'approved', of: ({ at }) => clockText(at, now) },
      { title: 'by', of: ({ by }) => by },
      { title: 'until', of: endOf },
      { title: 'campaign', of: ({ campaign }) => campaign },
      { title: 'what', least: 20, of: ({ what }) => what },
      { title: 'plan', least: 20, cut: 'middle', of: ({ plan }) => plan },
    ]),
  ];
}

export interface JobRow extends Omit<ListedJob, 'recordId' | 'echoes'> {
  /** Step of the job. Omitted if no lock in this folder has the job. */
  step?: { lock: string; address: string };
}

export function jobsView(rows: readonly JobRow[], now: number): Document {
  return [
    listOf(rows, [
      { title: 'kind', of: ({ kind }) => kind },
      { title: 'state', of: ({ status }) => stateCell(status) },
      { title: 'age', align: 'right', of: ({ createdAt }) => ageText(createdAt, now) },
      { title: 'credits', align: 'right', of: ({ credits }) => creditsText(credits ?? null) },
      { title: 'model', least: 8, of: ({ model = '' }) => model },
      { title: 'step', least: 12, cut: 'middle', of: ({ step }) => step?.address ?? warning('not on record') },
      { title: 'prompt', least: 10, of: ({ error, prompt = '' }) => error ?? prompt },
      { title: 'job id', of: ({ jobId }) => jobId },
    ]),
  ];
}

function stateCell(status: string): Text {
  const { states } = envelope;
  switch (status) {
    case states.completed:
      return good('completed');
    case states.failed:
      return bad('failed');
    case states.queued:
    case states.processing:
      return active(status.toLowerCase());
    default:
      return status;
  }
}

export interface UploadRow {
  name: string;
  url: string;
  id: string;
  bytes?: number;
  /** ISO 8601. */
  createdAt?: string;
}

/** `now`: current time in ms since 1970. If omitted, the view shows no ages. */
export function uploadsView(rows: readonly UploadRow[], now?: number): Document {
  return [
    listOf(rows, [
      { title: 'name', least: 10, cut: 'middle', of: ({ name }) => strong(name) },
      { title: 'size', align: 'right', of: ({ bytes }) => (bytes === undefined ? '' : bytesText(bytes)) },
      { title: 'age', align: 'right', of: ({ createdAt }) => (now === undefined ? '' : ageText(createdAt, now)) },
      { title: 'url', of: ({ url }) => url },
      { title: 'id', of: ({ id }) => id },
    ]),
  ];
}

export interface ModelRow {
  kind: string;
  model: string;
  /** Price of a job, or of each started unit `per`. `null` if unknown. */
  credits: number | null;
  /** Unit such as `second` or `1000 characters`. */
  per?: string;
  aliasOf?: string;
  isDefault: boolean;
  known: 'documented' | 'catalog' | 'both';
  notes: string;
}

export function modelsView(rows: readonly ModelRow[]): Document {
  return [
    listOf(rows, [
      { title: 'kind', of: ({ kind }) => faint(kind) },
      { title: 'model', of: ({ model }) => strong(model) },
      {
        title: 'credits',
        align: 'right',
        of: ({ credits, per }) => `${creditsText(credits)}${per === undefined ? '' : ` per ${per}`}`,
      },
      { title: 'alias of', of: ({ aliasOf = '' }) => aliasOf },
      {
        title: 'notes',
        least: 16,
        cut: 'wrap',
        of: ({ isDefault, notes }) =>
          isDefault && !/\bdefault\b/i.test(notes) ? `The default. ${notes}`.trim() : notes,
      },
    ]),
  ];
}

export interface VoiceRow {
  id: string;
  gender: string;
  accent: string;
  label?: string;
  description?: string;
  previewUrl?: string;
}

export function voicesView(rows: readonly VoiceRow[]): Document {
  return [
    listOf(rows, [
      { title: 'voice_id', of: ({ id }) => strong(id) },
      { title: 'gender', of: ({ gender }) => gender },
      { title: 'accent', of: ({ accent }) => accent },
      { title: 'label', least: 8, of: ({ label = '', id }) => (label === id ? '' : label) },
      { title: 'description', least: 12, of: ({ description = '' }) => description },
    ]),
  ];
}
