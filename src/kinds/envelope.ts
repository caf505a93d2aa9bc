/**
 * What the answers of the service have in common beside the kinds, as data: paths, headers, words and the names of fields.
 * Where the documentation shows facts without their field, the names stand in the order in which they are tried. `a.b` is
 * the field `b` of the object `a`.
 */
export const envelope = {
  /** Ends every base URL. */
  prefix: '/api/v1',
  /** Below the base URL, but for `documentAtRoot`, which is seen from the root of the host. */
  paths: {
    /** Also asked for the time and for the key: it costs nothing. */
    accounts: '/accounts',
    voices: '/voiceovers/voices',
    catalog: '/catalog',
    uploads: '/uploads',
    signedUrl: '/uploads/signed-url',
    completeUpload: '/uploads/complete',
    document: '/openapi.json',
    documentAtRoot: '/api-docs/openapi.json',
  },
  headers: { idempotencyKey: 'idempotency-key', retryAfter: 'retry-after', date: 'date' },
  states: { queued: 'QUEUED', processing: 'PROCESSING', completed: 'COMPLETED', failed: 'FAILED' },
  /** Words by which the kinds that share a status path name themselves. In which field is not documented. */
  kindWords: { BASIC: 'image', INFLUENCER: 'influencer', THUMBNAIL: 'thumbnail' } as Readonly<Record<string, string>>,
  /** Every answer. `success` is false with an error. */
  answer: { success: 'success', message: ['message', 'error'], code: 'code', data: 'data' },
  page: {
    hasNext: 'pagination.hasNextPage',
    pages: 'pagination.totalPages',
    records: 'pagination.totalCount',
    limit: 'pagination.limit',
  },
  /** The answer to a create. */
  created: {
    /** Where the job stands, as documented for images and music. */
    holder: 'generation',
    /** Where it may stand with other kinds; or in the answer itself. */
    otherHolders: ['generation', 'data', 'job', 'clipping', 'thumbnail', 'video', 'voiceover', 'post'],
    /** A record that names its job is another thing than the job. */
    jobId: 'jobId',
    id: 'id',
    model: 'model',
    credits: 'creditsDeducted',
    balance: 'creditsRemaining',
  },
  /** A job by its status, and as an item of a list. */
  job: {
    id: 'id',
    status: 'status',
    error: 'error',
    createdAt: 'createdAt',
    model: 'model',
    credits: ['creditsUsed', 'creditsDeducted', 'credits'],
    prompt: ['prompt', 'text', 'title', 'videoUrl'],
    link: ['outputUrl', 'outputAsset.url'],
    thumbnail: ['thumbnailUrl', 'thumbnailAsset.url'],
    listedLink: ['outputAsset.url', 'image', 'outputUrl'],
  },
  /** One of the files that a job of several gives. `order` counts from 0. */
  part: { id: 'id', order: 'order', link: ['outputAsset.url', 'url'] },
  upload: {
    uploadUrl: 'data.uploadUrl',
    blobName: 'data.blobName',
    publicUrl: 'data.publicUrl',
    /** Where the asset stands; or in the answer itself. */
    holders: ['data', 'asset'],
    id: 'id',
    url: 'url',
  },
  voices: { lists: ['voices', 'data'] },
  accounts: { lists: ['data', 'accounts'], name: 'accountName', username: 'accountUsername' },
  /** The catalog of models, of which nothing is documented. */
  catalog: {
    /** Names of lists that say nothing about what is in them. */
    lists: ['data', 'models', 'catalog', 'items'],
    model: ['key', 'model', 'id', 'name'],
    kind: ['kind', 'type'],
    credits: ['credits', 'cost', 'price', 'creditCost'],
    description: ['description', 'label'],
  },
} as const;

/** The states of a job that the service documents. */
export const jobStates: readonly string[] = Object.values(envelope.states);
