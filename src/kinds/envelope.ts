/**
 * The parts of the service's answers that all kinds share, as data: paths, headers, words and field names. Where the
 * documentation gives a fact without its field, names are listed in the order in which they are tried. `a.b` is the
 * field `b` of the object `a`.
 */
export const envelope = {
  /** The end of every base URL. */
  prefix: '/api/v1',
  /** Paths relative to the base URL, except `documentAtRoot`, which is relative to the root of the host. */
  paths: {
    /** Also used to read the clock and to check the key: it costs nothing. */
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
  /** Words that tell apart the kinds that share a status path. The field that holds them is undocumented. */
  kindWords: { BASIC: 'image', INFLUENCER: 'influencer', THUMBNAIL: 'thumbnail' } as Readonly<Record<string, string>>,
  /** Common to every answer. `success` is false when there is an error. */
  answer: { success: 'success', message: ['message', 'error'], code: 'code', data: 'data' },
  page: {
    hasNext: 'pagination.hasNextPage',
    pages: 'pagination.totalPages',
    records: 'pagination.totalCount',
    limit: 'pagination.limit',
  },
  created: {
    /** Field that holds the job, as documented for images and music. */
    holder: 'generation',
    /** Fields that may hold the job for other kinds; it may also be the answer itself. */
    otherHolders: ['generation', 'data', 'job', 'clipping', 'thumbnail', 'video', 'voiceover', 'post'],
    /** A record that names its job is not the job itself. */
    jobId: 'jobId',
    id: 'id',
    model: 'model',
    credits: 'creditsDeducted',
    balance: 'creditsRemaining',
  },
  /** A job, as its status and as an item of a list. */
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
    /** Link in a list, not the `image` of a thumbnail: where its request had one, that is it. */
    listedLink: ['outputAsset.url', 'outputUrl'],
  },
  /** One of several files of a job. `order` counts from 0. */
  part: { id: 'id', order: 'order', link: ['outputAsset.url', 'url'] },
  upload: {
    uploadUrl: 'data.uploadUrl',
    blobName: 'data.blobName',
    publicUrl: 'data.publicUrl',
    /** Fields that may hold the asset; it may also be the answer itself. */
    holders: ['data', 'asset'],
    id: 'id',
    url: 'url',
  },
  voices: { lists: ['voices', 'data'] },
  accounts: { lists: ['data', 'accounts'], name: 'accountName', username: 'accountUsername' },
  /** The catalog of models, which is entirely undocumented. */
  catalog: {
    /** List names that say nothing about their content. */
    lists: ['data', 'models', 'catalog', 'items'],
    model: ['key', 'model', 'id', 'name'],
    kind: ['kind', 'type'],
    credits: ['credits', 'cost', 'price', 'creditCost'],
    amount: ['amount', 'credits', 'value', 'cost', 'price'],
    /** Unit that the credits are charged for: a job, unless it says otherwise. */
    per: [
      'per',
      'creditsPer',
      'credits_per',
      'creditPer',
      'costPer',
      'pricePer',
      'unit',
      'creditsUnit',
      'creditUnit',
      'priceUnit',
      'pricingUnit',
      'billingUnit',
    ],
    creditsBy: ['creditsBy'],
    /** The most that one job is charged. */
    ceiling: ['maxCredits'],
    /** Values of fields, by field. */
    allowed: ['allowed'],
    description: ['description', 'label'],
  },
} as const;

/** Undocumented words for the end of a job, in capitals. */
export const otherStates: { readonly succeeded: readonly string[]; readonly canceled: readonly string[] } = {
  succeeded: ['SUCCEEDED', 'SUCCESS'],
  canceled: ['CANCELED', 'CANCELLED'],
};

export const jobStates: readonly string[] = Object.values(envelope.states);
