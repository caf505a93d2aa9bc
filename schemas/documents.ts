import type { Schema } from './schema.ts';

/** A value: a description, and what it is. */
type Part = readonly [description: string, is: Schema];

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const truth: Schema = { type: 'boolean' };
const path = text;
const credits: Schema = { type: 'number', minimum: 0 };
const anything: Schema = {};
const oneOf = (...values: string[]): Schema => ({ enum: values });
const list = (items: Schema): Schema => ({ type: 'array', items });
const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
const mapOf = (schema: Schema): Schema => ({ type: 'object', additionalProperties: schema });

/** A `?` behind a name: it may be absent. `open`: more may be beside these. */
function object(parts: { [name: string]: Part }, more: 'open' | 'closed' = 'closed'): Schema {
  const entries = Object.entries(parts);
  return {
    type: 'object',
    ...(more === 'closed' && { additionalProperties: false }),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    properties: Object.fromEntries(
      entries.map(([name, [description, is]]) => [name.replace('?', ''), { description, ...is }]),
    ),
  };
}

const why = object({ address: ['Address of the step.', text], why: ['Reason.', text] });
const source: Part = ['Source; `documented` if the service was not queried.', oneOf('service', 'documented')];
const place = object({
  file: ['The file.', path],
  line: ['From 1.', count],
  column: ['From 1.', count],
  'from?': ['Data that a template inserted.', text],
  'reads?': ['Text files that the template of the step reads.', list(path)],
});
const model: { [name: string]: Part } = {
  'credits?': ['Credits per job.', anything],
  'aliasOf?': ['Model that has this name as an alias.', text],
};

/** Documents that one command prints, each described by one sentence and its parts. */
const documents: { readonly [name: string]: readonly [description: string, parts: { [name: string]: Part }] } = {
  doctor: [
    'Findings of `mediabatch doctor --json`.',
    {
      exit: ['Exit code.', count],
      findings: [
        'Findings, one for each check.',
        list(
          object({
            about: ['Subject of the check.', text],
            state: ['Result of the check.', oneOf('ok', 'warning', 'problem')],
            text: ['Finding, for users.', text],
            'hint?': ['Recommended action.', text],
          }),
        ),
      ],
    },
  ],
  models: [
    'Models, as printed by `mediabatch list models --json`.',
    {
      source,
      models: [
        'Sorted by kind.',
        list(
          object({
            kind: ['Kind of generation.', text],
            model: ['Name in a manifest.', text],
            credits: ['Credits per job, or per started unit (`per`); null if unknown.', orNull(credits)],
            'per?': ['Unit of the price: `second` or `1000 characters`.', text],
            'aliasOf?': ['Model that has this name as an alias.', text],
            isDefault: ['Whether requests without a model use this model.', truth],
            known: ['Source of this entry.', oneOf('documented', 'catalog', 'both')],
            notes: ['Description of the model.', text],
          }),
        ),
      ],
    },
  ],
  voices: [
    'Voices, as printed by `mediabatch list voices --json`.',
    {
      source,
      voices: [
        "Voices, in the order of the service's list.",
        list(
          object({
            id: ['Value of `voice_id` in a request.', text],
            gender: ["Gender of the voice, spelled as in the service's list.", text],
            accent: ["Accent of the voice, spelled as in the service's list.", text],
            'label?': ['Name of the voice.', text],
            'description?': ['Description of the voice.', text],
            'previewUrl?': ['URL of a sample.', text],
          }),
        ),
      ],
    },
  ],
  accounts: [
    'Social media accounts for posts, as printed by `mediabatch list accounts --json`.',
    {
      accounts: [
        "Accounts, in the order of the service's list.",
        list(
          object({
            id: ['Account id, for `accountIds` of a post.', text],
            provider: ["Platform, spelled as in the service's answer.", text],
            platform: ['Platform, spelled as the platform spells its name.', text],
            name: ['Name of the account; empty if none is known.', text],
            username: ['Name of the account; empty if none is known.', text],
            'expiresAt?': ['Time at which the service loses access to the account.', text],
            expiry: [
              "Whether the service's access to the account is valid, expires soon or has expired.",
              oneOf('unknown', 'valid', 'soon', 'past'),
            ],
          }),
        ),
      ],
    },
  ],
  jobs: [
    'Jobs at the service, as printed by `mediabatch list jobs --json`.',
    {
      jobs: [
        'Newest first.',
        list(
          object({
            kind: ['Kind of generation.', text],
            jobId: ['Id of the job.', text],
            status: ["Status of the job, spelled as in the service's answer.", text],
            'createdAt?': ['Time at which the job was created.', text],
            'model?': ['Model.', text],
            'prompt?': ['Prompt or text of the request.', text],
            'credits?': ['Credits charged for it.', credits],
            'error?': ['Error of the service.', text],
            'url?': ['URL of the output.', text],
            step: [
              'Step of the job; null if no lock in this folder contains the job.',
              orNull(object({ lock: ['The lock.', path], address: ['Address of the step.', text] })),
            ],
          }),
        ),
      ],
      more: ['Whether the service has more jobs than `--limit` allowed to list.', truth],
      unlisted: ['Kinds for which the service has no list of jobs.', list(text)],
      locks: ['Locks that were read.', list(path)],
    },
  ],
  uploads: [
    'Files of the media library, as printed by `mediabatch list uploads --json` and `uploads FILE --json`.',
    {
      uploads: [
        'Files in the media library.',
        list(
          object({
            name: ['Name of the file.', text],
            url: ['URL for requests.', text],
            id: ['Id of the file at the service.', text],
            'bytes?': ['Size in bytes.', count],
            'createdAt?': ['Time of the upload.', text],
          }),
        ),
      ],
      failed: [
        'Files that could not be uploaded.',
        list(object({ name: ['Name of the file.', text], error: ['Reason.', text] })),
      ],
    },
  ],
  workers: [
    'State of an engine, as printed by `mediabatch workers --json`. Ages are in milliseconds, by the clock of the database server.',
    {
      runs: [
        'Newest first.',
        list(
          object({
            id: ['Id of the run.', text],
            account: ['Account of the run.', text],
            campaign: ['Name of the campaign.', text],
            state: [
              '`stopping`: the run was cancelled; jobs that already run are polled and downloaded. `paused`: the run sends no create requests until it is resumed; jobs that already run are polled and downloaded.',
              oneOf('open', 'paused', 'stopping', 'ended'),
            ],
            host: ['Host that submitted the run.', text],
            manifest: ['Path of the manifest on that host.', path],
            submittedMs: ['Milliseconds since the run was submitted.', credits],
            'endedMs?': ['Milliseconds since the run ended.', credits],
            'exit?': ['Exit code.', count],
            'cancelled?': [
              'User who cancelled the run, and the time since then.',
              object({ by: ['Name of the user.', text], ageMs: ['Milliseconds since then.', credits] }),
            ],
            'paused?': [
              'User who paused the run, and the time since then.',
              object({ by: ['Name of the user.', text], ageMs: ['Milliseconds since then.', credits] }),
            ],
            'error?': ['Error after which the leader stopped working on the run.', text],
            'lacks?': [
              'What an open run lacks: a live worker of its account, of its version or with its store, or a leader.',
              oneOf('worker', 'version', 'store', 'leader'),
            ],
            'credits?': ['Charged in this run. Omitted if not recorded.', count],
            steps: [
              'Number of steps.',
              object({
                done: ['Steps that are done.', count],
                failed: ['Steps that are failed, refused, unresolved or lost.', count],
                waiting: ['Steps that have not ended, or whose job still runs.', count],
                left: ['Steps that the run had not started when it ended or stopped.', count],
                of: ['All steps.', count],
              }),
            ],
            files: [
              'Number of files.',
              object({
                wanted: ['Files queued for workers.', count],
                saved: ['Saved files.', count],
                failed: ['Files of finished jobs that were not saved when the step ended.', count],
              }),
            ],
            store: ['Store for the files of the run; null if the attached `apply` downloads the files.', orNull(text)],
            protocol: ['Version of the protocol between `apply` and workers.', count],
          }),
        ),
      ],
      accounts: [
        'Accounts with open runs or workers.',
        list(
          object({
            id: ['Id of the account.', text],
            head: [
              'Id of the leader of the account; null if the account has no leader, or the lease of the leader has expired.',
              orNull(text),
            ],
            'beatMs?': ["Milliseconds since the leader's last heartbeat.", credits],
            'error?': ['Error of the account.', text],
            'limit?': [
              'Workers can set several limits: this is the limit with the fewest remaining credits.',
              object({
                credits: ['Maximum credits in the period.', count],
                per: ['Period of the limit; days and months in UTC.', oneOf('run', 'day', 'month')],
                left: ['Remaining credits, neither spent nor reserved.', count],
                of: ['Source of the limit: the workers (`worker --limit`).', oneOf('engine')],
              }),
            ],
          }),
        ),
      ],
      workers: [
        'Workers.',
        list(
          object(
            {
              id: ['Id of the worker.', text],
              account: ['Account of the worker.', text],
              host: ['Host name of the worker.', text],
              pid: ['Process id of the worker.', count],
              protocol: ['Version of the protocol between `apply` and workers.', count],
              version: ['Version of mediabatch.', text],
              store: ['Store for files; null if the worker has no store.', orNull(text)],
              files: ['Maximum number of concurrent downloads; 0 if the worker downloads no files.', count],
              beatMs: ['Milliseconds since the last heartbeat of the worker.', credits],
              isSilent: ['Whether the worker counts as dead, because its last heartbeat is too old.', truth],
              isHead: ['Whether the worker is the leader of its account.', truth],
            },
            'open',
          ),
        ),
      ],
    },
  ],
  gc: [
    'Downloaded files that no step uses, as printed by `mediabatch gc --json`.',
    {
      files: [
        'Files that can be deleted.',
        list(
          object({
            path: ['Path relative to the output folder, or to `.mediabatch/kept`.', path],
            bytes: ['Size in bytes.', count],
            is: [
              '`output`: output of an earlier purchase. `partial`: part of an interrupted download. `kept`: file that a newer file replaced.',
              oneOf('output', 'partial', 'kept'),
            ],
            'credits?': ['Credits charged for the job of the file.', credits],
            'jobId?': ['Id of the job.', text],
            'was?': ['Path at which the file was before a newer file replaced it.', path],
            'since?': ['Time at which a newer file replaced the file.', text],
            'address?': ['Address of the step that the job was bought for.', text],
            deleted: ['Whether it was deleted.', truth],
          }),
        ),
      ],
      kept: ['Files that are not deleted.', list(object({ path: ['Path.', path], why: ['Reason.', text] }))],
      bytesFreed: ['Total size of deleted files.', count],
    },
  ],
  destroy: [
    'Records that mediabatch removed from the service, as printed by `mediabatch destroy --json`.',
    {
      records: [
        'Records, one for each job.',
        list(
          object({
            kind: ['Kind of generation.', text],
            address: ['Address of the step.', text],
            jobId: ['Id of the job.', text],
            'recordId?': ['Id of the record at the service.', text],
            'credits?': ['Credits charged for it.', credits],
            'createdAt?': ['Time of creation.', text],
            files: ['State of the files of the record on this machine.', oneOf('intact', 'missing', 'none')],
            isOrphan: ['Whether no step of the manifest uses the record.', truth],
            result: [
              'Result; `gone` if the service no longer had the record.',
              oneOf('removed', 'gone', 'left', 'failed'),
            ],
            'error?': ['Reason why the record could not be removed.', text],
          }),
        ),
      ],
      skipped: ['Records that were not removed, because steps of the manifest use them.', list(why)],
    },
  ],
  explanation: [
    'Action of a step and its reason, as printed by `mediabatch explain --json`. `row`, `step` and `record` may have fields that this schema does not list.',
    {
      row: [
        'Row of the step in a plan.',
        object(
          {
            address: ['Address of the step.', text],
            task: ['Task of its step.', text],
            kind: ['Kind of generation.', text],
            action: ['What a run would do.', text],
            reason: [
              'Reason of the action.',
              object({ code: ['Code for programs.', text], text: ['Text for users.', text] }, 'open'),
            ],
            credits: ['Credits that the action spends; null if unknown.', orNull(credits)],
          },
          'open',
        ),
      ],
      step: [
        'The step in the manifest.',
        object(
          {
            address: ['Address of the step.', text],
            request: [
              'Request of the step, before references to other steps are replaced by their outputs.',
              mapOf(anything),
            ],
            fingerprint: ['Digest of everything that can change the output.', text],
            needs: ['Steps and gates that the step waits for.', list(text)],
            save: ['Path of the file of the step without extension; empty if the step has no file.', path],
          },
          'open',
        ),
      ],
      'unsaved?': ['Error of the newest run that tried to save the file of the finished job of the step.', text],
      'record?': [
        'The step in the lock.',
        object(
          { address: ['Address of the step.', text], purchases: ['As in the lock.', list({ type: 'object' })] },
          'open',
        ),
      ],
    },
  ],
  expansion: [
    'Resolved manifest, as printed by `mediabatch explain --origins --json`.',
    {
      campaign: ['Name of the campaign.', text],
      'budget?': ['As in the manifest.', object({ credits: ['Credits.', credits] })],
      'service?': ['As in the manifest.', object({ concurrency: ['Maximum number of concurrent jobs.', count] })],
      'selectors?': ['As in the manifest.', mapOf(anything)],
      'prices?': ['As in the manifest.', mapOf(anything)],
      steps: [
        'Steps, with the settings of their tasks as they apply to each step.',
        list(
          object(
            {
              address: ['Address of the step.', text],
              task: ['Task of its step.', text],
              kind: ['Kind of generation.', text],
              trail: ['Expansion path, from the task to the row.', list(text)],
              origins: [
                'Position in the manifest files at which each value is set, by the path of the value.',
                mapOf(place),
              ],
            },
            'open',
          ),
        ),
      ],
    },
  ],
  kinds: [
    'Kinds and their fields, as printed by `mediabatch schema kinds --json`.',
    {
      kinds: [
        'Kinds in the order of the manual.',
        list(
          object({
            name: ['Value of `kind` in a manifest.', text],
            description: ['Description of the kind.', text],
            media: ['Kind of generation.', text],
            documented: ['Whether the service documents the request of this kind.', truth],
            fields: [
              'Fields of `with`.',
              list(
                object({
                  name: ['Name of the field.', text],
                  description: ['Description of the field.', text],
                  type: ['Type.', text],
                  required: ['Whether it is required.', truth],
                  'values?': ['Allowed values.', list(anything)],
                  'default?': ['Default value.', anything],
                  'maxLength?': ['Maximum length in characters.', count],
                }),
              ),
            ],
            'models?': [
              'Documented models.',
              list(
                object({
                  name: ['Name of the model.', text],
                  description: ['Description of the model.', text],
                  ...model,
                }),
              ),
            ],
            outputs: ['Output fields that other tasks can use.', list(text)],
            'parts?': [
              'Parts of the output.',
              object({
                name: ['Name of the output field that lists the parts, such as `clips`.', text],
                most: ['Maximum number of parts.', count],
              }),
            ],
          }),
        ),
      ],
    },
  ],
};

/** The schemas of documents that are said here, by name. */
export function smallSchemas(): { name: string; schema: Schema }[] {
  return Object.entries(documents).map(([name, [description, parts]]) => ({
    name,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:mediabatch:${name}:1`,
      title: `mediabatch ${name}`,
      description,
      ...object({
        mediabatch: ['Document type.', { const: name }],
        version: ['Version of this document format.', { const: 1 }],
        ...parts,
      }),
    },
  }));
}
